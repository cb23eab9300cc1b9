/* PGPainless for many calls in one process: each line of the input names the files of a call's input and
   output, then its arguments, with tabs between; each line of the output is its exit code. */
import java.io.*;
import java.nio.file.*;
import java.util.*;

public class Pgpainless {
  public static void main(String[] ignored) throws Exception {
    BufferedReader calls = new BufferedReader(new InputStreamReader(System.in));
    PrintStream codes = System.out;
    sop.cli.picocli.SopCLI.setSopInstance(new org.pgpainless.sop.SOPImpl());
    for (String line; (line = calls.readLine()) != null; ) {
      String[] parts = line.split("\t");
      int code = 1;
      try (InputStream in = Files.newInputStream(Paths.get(parts[0]));
          PrintStream out = new PrintStream(Files.newOutputStream(Paths.get(parts[1])))) {
        System.setIn(in);
        System.setOut(out);
        System.setErr(new PrintStream(OutputStream.nullOutputStream()));
        code = sop.cli.picocli.SopCLI.execute(Arrays.copyOfRange(parts, 2, parts.length));
      } catch (Throwable error) {
        code = 70;
      }
      codes.println(code);
      codes.flush();
    }
  }
}
