import java.nio.file.Path;
import java.util.Map;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/**
 * A Neo4j server for tests: {@code java -cp 'lib/*' Neo4jServer.java HOME WATCHED_PID}.
 *
 * <p>Reads HOME/conf/neo4j.conf, sets the password of user neo4j to GRAPH_SERVICE_TEST_PASSWORD (if it is
 * set), prints "ready", and ends with the process WATCHED_PID so that no test run leaves it behind.
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
                .ifPresentOrElse(exit -> exit.thenRun(() -> System.exit(0)), () -> System.exit(3));
        System.out.println("ready");
        System.out.flush();
        Thread.currentThread().join();
    }
}
