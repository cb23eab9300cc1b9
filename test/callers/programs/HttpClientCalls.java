import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Scanner;

/** Java has no JSON of its own: a line is a method, a path and a body, with tabs between them. */
public class HttpClientCalls {
  public static void main(String[] args) throws Exception {
    var client = HttpClient.newHttpClient();
    var lines = new Scanner(System.in, "UTF-8").useDelimiter("\n");
    var base = lines.next();
    var token = lines.next();
    var answers = new ArrayList<String>();
    while (lines.hasNext()) {
      var call = lines.next().split("\t");
      var request = HttpRequest.newBuilder(URI.create(base + call[1]));
      request.header("Authorization", "Bearer " + token);
      if (call.length > 2) request.header("Content-Type", "application/json");
      request.method(
          call[0],
          call.length > 2 ? BodyPublishers.ofString(call[2]) : BodyPublishers.noBody());
      var answer = client.send(request.build(), BodyHandlers.ofString());
      var type = answer.headers().firstValue("content-type").orElse("");
      answers.add(
          "{\"status\":" + answer.statusCode() + ",\"type\":" + quoted(type)
              + ",\"body\":" + quoted(answer.body()) + "}");
    }
    System.out.print("[" + String.join(",", answers) + "]");
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
  }
}
