import com.almworks.sqlite4java.SQLiteConnection;
import com.almworks.sqlite4java.SQLiteException;
import com.almworks.sqlite4java.SQLiteJob;
import com.almworks.sqlite4java.SQLiteQueue;
import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import java.lang.reflect.Field;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Starts DynamoDB Local on 127.0.0.1 only, with its database in a mode that is durable and fast.
 *
 * <p>By itself it listens on all interfaces and waits for the disk several times per write. It has
 * options for neither, so both are set through its private fields; the version is therefore pinned
 * in local/pom.xml. Takes DynamoDB Local's own arguments.
 */
public final class DynamoDBLauncher {
  private static final String HOST = "127.0.0.1";

  // With a write-ahead log a write that was acknowledged survives the death of the process, and the
  // database stays whole when the power fails, without waiting for the disk at each write. Only
  // one connection exists, so it may keep the file's lock.
  private static final List<String> DATABASE_SETTINGS =
      List.of(
          "PRAGMA locking_mode=EXCLUSIVE",
          "PRAGMA journal_mode=WAL",
          "PRAGMA synchronous=NORMAL",
          "PRAGMA journal_size_limit=33554432");

  public static void main(String[] arguments) throws Exception {
    DynamoDBProxyServer proxy = ServerRunner.createServerFromCommandLineArgs(arguments);
    ServerConnector connector = null;
    for (Connector each : ((Server) field(proxy, "server")).getConnectors()) {
      connector = (ServerConnector) each;
      connector.setHost(HOST);
    }
    proxy.start();
    if (!Arrays.asList(arguments).contains("-inMemory")) {
      openDatabase(connector.getLocalPort());
      setUpDatabase(proxy);
    }
    proxy.join();
  }

  /** Makes the first request, which has the server open its database. */
  private static void openDatabase(int port) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + HOST + ":" + port))
            .header("Content-Type", "application/x-amz-json-1.0")
            .header("X-Amz-Target", "DynamoDB_20120810.ListTables")
            .header(
                "Authorization",
                "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request,"
                    + " SignedHeaders=host, Signature=0")
            .POST(HttpRequest.BodyPublishers.ofString("{}"))
            .build();
    HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());
  }

  private static void setUpDatabase(DynamoDBProxyServer proxy) throws Exception {
    Object handler = field(field(proxy, "serverHandler"), "primaryHandler");
    for (Object database : ((Map<?, ?>) field(handler, "dbRequestHandlers")).values()) {
      SQLiteQueue queue = (SQLiteQueue) field(field(database, "dbAccess"), "queue");
      queue.execute(
          new SQLiteJob<Void>() {
            @Override
            protected Void job(SQLiteConnection connection) throws SQLiteException {
              for (String setting : DATABASE_SETTINGS) {
                connection.exec(setting);
              }
              return null;
            }
          })
          .get();
    }
  }

  private static Object field(Object object, String name) throws ReflectiveOperationException {
    for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (field.getName().equals(name)) {
          field.setAccessible(true);
          return field.get(object);
        }
      }
    }
    throw new NoSuchFieldException(name);
  }
}
