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
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/**
 * Starts DynamoDB Local on 127.0.0.1 only, with a database that is durable and fast. Takes DynamoDB
 * Local's own arguments.
 *
 * <p>By itself it listens on all interfaces, waits for the disk several times per write, and
 * answers a transaction before the database has committed it, so that a transaction which was
 * acknowledged is lost when the process is killed at that moment. It has no options for any of
 * this; it is changed through private fields, and the version is therefore pinned in jars.txt.
 */
public final class DynamoDBLauncher {
  private static final String HOST = "127.0.0.1";

  // With a write-ahead log a write that was committed survives the death of the process, and the
  // database stays whole when the power fails, without waiting for the disk at each write. Only
  // one connection exists, so it may keep the file's lock.
  private static final List<String> DATABASE_SETTINGS =
      List.of(
          "PRAGMA locking_mode=EXCLUSIVE",
          "PRAGMA journal_mode=WAL",
          "PRAGMA synchronous=NORMAL",
          "PRAGMA journal_size_limit=33554432");

  public static void main(String[] arguments) {
    try {
      run(arguments);
    } catch (Exception error) {
      // The server's threads would keep a half-started process alive.
      error.printStackTrace();
      System.exit(1);
    }
  }

  private static void run(String[] arguments) throws Exception {
    DynamoDBProxyServer proxy = ServerRunner.createServerFromCommandLineArgs(arguments);
    Server server = (Server) field(proxy, "server");
    ServerConnector connector = (ServerConnector) server.getConnectors()[0];
    connector.setHost(HOST);
    if (!Arrays.asList(arguments).contains("-inMemory")) {
      server.setHandler(new TransactionsAnswerLater(server.getHandler(), proxy));
      int port = connector.getPort();
      connector.setPort(0);
      proxy.start();
      openDatabase(connector.getLocalPort());
      inDatabase(proxy, DATABASE_SETTINGS);
      connector.stop();
      connector.setPort(port);
      connector.start();
    } else {
      proxy.start();
    }
    proxy.join();
  }

  /** Holds the answer to a transaction back until the database has committed it. */
  private static final class TransactionsAnswerLater extends Handler.Wrapper {
    private final DynamoDBProxyServer proxy;

    TransactionsAnswerLater(Handler handler, DynamoDBProxyServer proxy) {
      super(handler);
      this.proxy = proxy;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
      String target = request.getHeaders().get("X-Amz-Target");
      if (target == null || !target.endsWith(".TransactWriteItems")) {
        return super.handle(request, response, callback);
      }
      Response later =
          new Response.Wrapper(request, response) {
            @Override
            public void write(boolean last, ByteBuffer content, Callback written) {
              try {
                // The commit is in the database's queue by now: wait for what comes after it.
                inDatabase(proxy, List.of());
              } catch (ReflectiveOperationException
                  | ExecutionException
                  | InterruptedException error) {
                written.failed(error);
                return;
              }
              super.write(last, content, written);
            }
          };
      return super.handle(request, later, callback);
    }
  }

  /**
   * Makes the first request, which has the server open its database. Nobody else may make it at the
   * same time, or the database is opened twice; so the server listens on some port meanwhile.
   */
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

  /**
   * Returns when everything queued before, and then the statements, have been run. The one database
   * (-sharedDb) has one thread, which runs everything in order.
   */
  private static void inDatabase(DynamoDBProxyServer proxy, List<String> statements)
      throws ReflectiveOperationException, ExecutionException, InterruptedException {
    Object handler = field(field(proxy, "serverHandler"), "primaryHandler");
    Map<?, ?> databases = (Map<?, ?>) field(handler, "dbRequestHandlers");
    Object database = databases.values().iterator().next();
    SQLiteQueue queue = (SQLiteQueue) field(field(database, "dbAccess"), "queue");
    queue
        .execute(
            new SQLiteJob<Void>() {
              @Override
              protected Void job(SQLiteConnection connection) throws SQLiteException {
                for (String statement : statements) {
                  connection.exec(statement);
                }
                return null;
              }
            })
        .get();
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
