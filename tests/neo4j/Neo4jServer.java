import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/**
 * A Neo4j server for tests: {@code java -cp 'lib/*' Neo4jServer.java HOME WATCHED_PID}.
 *
 * <p>Reads HOME/conf/neo4j.conf, sets the password of user neo4j to GRAPH_SERVICE_TEST_PASSWORD (if it is
 * set), prints "ready", and ends with the process WATCHED_PID, and removes HOME then, so that no test run
 * leaves anything behind.
 */
public class Neo4jServer {
    public static void main(String[] arguments) throws Exception {
        try {
            run(arguments);
        } catch (Throwable failure) {
            // The database's own threads would keep a failed server alive.
            failure.printStackTrace();
            System.exit(1);
        }
    }

    private static void run(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        DatabaseManagementService service = new DatabaseManagementServiceBuilder(home)
                .loadPropertiesFromFile(home.resolve("conf").resolve("neo4j.conf"))
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(service::shutdown));
        String password = System.getenv("GRAPH_SERVICE_TEST_PASSWORD");
        if (password != null) {
            // Embedded transactions have every right, so the initial password need not be known.
            service.database("system").executeTransactionally(
                    "ALTER USER neo4j SET PASSWORD $password CHANGE NOT REQUIRED", Map.of("password", password));
        }
        ProcessHandle.of(Long.parseLong(arguments[1]))
                .map(ProcessHandle::onExit)
                .ifPresentOrElse(exit -> exit.thenRun(() -> leave(home)), () -> leave(home));
        System.out.println("ready");
        System.out.flush();
        Thread.currentThread().join();
    }

    /** Ends at once, without the orderly stop that would keep the data, and removes the home. */
    private static void leave(Path home) {
        // The server runs on, so a file may come where one has just gone.
        for (int attempt = 0; attempt < 5 && Files.exists(home); attempt++) {
            try (Stream<Path> found = Files.walk(home)) {
                List<Path> deepestFirst = found.sorted(Comparator.reverseOrder()).toList();
                for (Path path : deepestFirst) {
                    Files.deleteIfExists(path);
                }
            } catch (IOException | RuntimeException failure) {
                failure.printStackTrace();
            }
        }
        Runtime.getRuntime().halt(0);
    }
}
