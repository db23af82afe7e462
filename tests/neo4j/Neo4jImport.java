import java.nio.file.Path;
import java.util.Arrays;
import org.neo4j.cli.ExecutionContext;
import org.neo4j.importer.ImportCommand;
import picocli.CommandLine;

/** {@code neo4j-admin database import full} without its script: {@code Neo4jImport.java HOME ARGUMENT...}. */
public class Neo4jImport {
    public static void main(String[] arguments) {
        Path home = Path.of(arguments[0]);
        ExecutionContext context = new ExecutionContext(home, home.resolve("conf"));
        String[] rest = Arrays.copyOfRange(arguments, 1, arguments.length);
        System.exit(new CommandLine(new ImportCommand.Full(context)).execute(rest));
    }
}
