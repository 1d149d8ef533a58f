import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.net.HttpURLConnection;
import java.net.URL;
import java.security.GeneralSecurityException;
import java.sql.*;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Timer;
import java.util.TimerTask;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A transactional outbox, with Java 8 or newer and the JDBC driver of PostgreSQL. "submit" and "approve" are business
 * transactions that write a push into the table outbox. "relay" sends these pushes; any number of relays may run, and
 * each may be killed at any time.
 */
public class Outbox {
    static final int CONNECT_MS = 10_000;
    static final int ANSWER_MS = 60_000; // longer than BATCH_TIMEOUT of the service, which is 30 s
    static final int REQUEST_MS = 90_000; // the whole request, also if its bytes come slowly
    static final int ANSWER_BYTES = 16_000_000;
    static final int STATEMENT_S = 30;
    // PostgreSQL releases the rows of a relay that is silent for so long. Longer than a request to the service.
    static final int SILENCE_S = 120;
    static final int BATCH_ROWS = 200;
    static final int BATCH_BYTES = 4_000_000; // the service accepts 8 MiB
    static final int IDLE_MS = 1_000;
    static final int LONGEST_PAUSE_S = 300;
    static final Timer DEADLINES = new Timer("outbox deadlines", true);

    public static void main(String[] args) throws Exception {
        String command = args.length > 0 ? args[0] : "";
        if (command.equals("submit") && args.length == 4) {
            try (Connection db = connect()) {
                submit(db, args[1], args[2], args[3]);
            }
        } else if (command.equals("approve") && args.length == 2) {
            try (Connection db = connect()) {
                approve(db, args[1]);
            }
        } else if (command.equals("relay")) {
            for (String name : new String[] {"JDBC_URL", "MATTER_PUSH_URL", "CLIENT_ID", "CLIENT_SECRET"}) setting(name);
            relay();
        } else {
            System.err.println("usage: Outbox submit ID TITLE APPROVER | approve ID | relay");
            System.exit(2);
        }
    }

    // ---- Business transactions: the change and its push are committed together, or neither is ----

    static void submit(Connection db, String id, String title, String approver) throws SQLException {
        change(db, "INSERT INTO purchase_request (id, title, approver) VALUES (?, ?, ?)", id, title, approver);
        change(db, "INSERT INTO outbox (op, body) SELECT 'upsert', jsonb_build_object('matterType', 'TODO',"
            + " 'externalId', id, 'title', title, 'parties', jsonb_build_array("
            + " jsonb_build_object('username', approver, 'partyRole', 'ASSIGNEE')))"
            + " FROM purchase_request WHERE id = ?", id);
        db.commit();
    }

    static void approve(Connection db, String id) throws SQLException {
        // The business row comes first: its lock gives the pushes of one request the order of their commits.
        change(db, "UPDATE purchase_request SET status = 'APPROVED' WHERE id = ?", id);
        change(db, "INSERT INTO outbox (op, body) SELECT 'status', jsonb_build_object('externalId', id,"
            + " 'bizStatus', status) FROM purchase_request WHERE id = ?", id);
        db.commit();
    }

    static void change(Connection db, String sql, String... values) throws SQLException {
        try (PreparedStatement statement = db.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) statement.setString(i + 1, values[i]);
            if (statement.executeUpdate() != 1) throw new SQLException("no such request: " + values[0]);
        }
    }

    // ---- The relay ----

    /** Sends until it is killed. After a problem with a whole batch no row has changed: all are sent again. */
    static void relay() throws InterruptedException {
        for (int failures = 1; ; failures++) {
            long pause = Math.min(1L << Math.min(failures - 1, 6), 60); // 1 s, 2 s, 4 s, ... 60 s
            try (Connection db = connect()) {
                while (true) {
                    int sent = sendBatch(db);
                    failures = 0;
                    if (sent == 0) Thread.sleep(IDLE_MS);
                }
            } catch (BatchRejected rejected) {
                pause = Math.max(pause, rejected.retryAfter);
                System.err.println(rejected.getMessage() + ": next try in " + pause + " s");
            } catch (SQLException | IOException | RuntimeException problem) {
                System.err.println(problem + ": next try in " + pause + " s");
            }
            Thread.sleep(pause * 1000);
        }
    }

    // The first waiting row of each matter. While it waits, also for its next try or in another relay's transaction,
    // the later rows of its matter are not taken: that keeps the order. SKIP LOCKED leaves other relays their rows.
    static final String TAKE =
        "SELECT id, jsonb_build_object('op', op, 'body', body, 'key', 'outbox-' || id)::text AS line"
        + " FROM outbox AS mine WHERE state = 'waiting' AND next_try_at <= now() AND NOT EXISTS ("
        + " SELECT 1 FROM outbox AS earlier WHERE earlier.external_id = mine.external_id"
        + " AND earlier.id < mine.id AND earlier.state = 'waiting')"
        + " ORDER BY id LIMIT " + BATCH_ROWS + " FOR UPDATE OF mine SKIP LOCKED";

    // PostgreSQL reads the answer, so no JSON library is needed. A row that failed for good does not stop later rows of
    // its matter. A retryable one waits for Retry-After, or 1 s, 2 s, 4 s, ... 300 s.
    static final String MARK =
        "UPDATE outbox SET tries = tries + 1, reason = result.reason, answer = result.answer,"
        + " state = CASE WHEN result.code = 0 THEN 'done' WHEN result.retryable THEN 'waiting' ELSE 'failed' END,"
        + " finished_at = CASE WHEN result.code = 0 OR NOT result.retryable THEN clock_timestamp() END,"
        + " next_try_at = clock_timestamp()"
        + "   + interval '1 second' * greatest(?, least(power(2, least(tries, 10)), " + LONGEST_PAUSE_S + "))"
        + " FROM (SELECT (item ->> 'line')::int AS line, (item ->> 'code')::int AS code, item ->> 'reason' AS reason,"
        + "   coalesce((item ->> 'retryable')::boolean, false) AS retryable, item AS answer"
        + "   FROM json_array_elements(?::json -> 'data' -> 'results') AS item) AS result"
        + " WHERE outbox.id = (?::bigint[])[result.line] RETURNING outbox.id, outbox.state, outbox.reason";

    /**
     * Sends one batch. The rows stay locked until the commit: if this relay is killed, PostgreSQL releases them as they
     * were, and a relay sends them again. The service does not apply a key again that it has applied.
     *
     * @return the number of rows that were sent
     */
    static int sendBatch(Connection db) throws SQLException, IOException {
        List<Long> ids = new ArrayList<>();
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        try (Statement statement = db.createStatement()) {
            statement.setFetchSize(10); // otherwise the driver loads all rows into memory
            ResultSet rows = statement.executeQuery(TAKE);
            while (rows.next() && lines.size() < BATCH_BYTES) {
                ids.add(rows.getLong("id"));
                lines.write((rows.getString("line") + "\n").getBytes(UTF_8));
            }
        }
        if (!ids.isEmpty()) {
            Answer answer = post(lines.toByteArray());
            if (!answer.hasResults()) throw new BatchRejected(answer);
            mark(db, ids, answer);
        }
        db.commit();
        return ids.size();
    }

    static void mark(Connection db, List<Long> ids, Answer answer) throws SQLException {
        int marked = 0;
        try (PreparedStatement statement = db.prepareStatement(MARK)) {
            statement.setLong(1, answer.retryAfter);
            statement.setString(2, answer.text);
            statement.setArray(3, db.createArrayOf("bigint", ids.toArray()));
            try (ResultSet rows = statement.executeQuery()) {
                for (; rows.next(); marked++) {
                    String state = rows.getString("state"), reason = rows.getString("reason");
                    if (!state.equals("done")) System.err.println("row " + rows.getLong("id") + " " + state + ": " + reason);
                }
            }
        }
        if (marked != ids.size()) throw new SQLException("the answer has results of " + marked + " of " + ids.size() + " rows");
    }

    /** The service took no line. Also if it is not retryable, the rows are not the cause: a secret or a URL may be. */
    static class BatchRejected extends IOException {
        final long retryAfter;

        BatchRejected(Answer answer) {
            super("HTTP status " + answer.status + ": " + answer.text.substring(0, Math.min(300, answer.text.length())));
            retryAfter = answer.retryAfter;
        }
    }

    // ---- Connections, each with deadlines ----

    static Connection connect() throws SQLException {
        Properties deadlines = new Properties();
        deadlines.setProperty("connectTimeout", "10");
        deadlines.setProperty("loginTimeout", "20");
        deadlines.setProperty("socketTimeout", String.valueOf(2 * STATEMENT_S));
        Connection db = DriverManager.getConnection(setting("JDBC_URL"), deadlines);
        try (Statement statement = db.createStatement()) {
            statement.execute("SET statement_timeout = '" + STATEMENT_S + "s'");
            statement.execute("SET idle_in_transaction_session_timeout = '" + SILENCE_S + "s'");
        }
        db.setAutoCommit(false);
        return db;
    }

    static Answer post(byte[] body) throws IOException {
        String clientId = setting("CLIENT_ID");
        String timestamp = Long.toString(System.currentTimeMillis() / 1000);
        URL url = new URL(setting("MATTER_PUSH_URL") + "/api/open/matters/batch");
        HttpURLConnection http = (HttpURLConnection) url.openConnection();
        http.setConnectTimeout(CONNECT_MS);
        http.setReadTimeout(ANSWER_MS);
        http.setInstanceFollowRedirects(false);
        http.setRequestMethod("POST");
        http.setDoOutput(true);
        http.setRequestProperty("Content-Type", "application/x-ndjson");
        http.setRequestProperty("X-Client-Id", clientId);
        http.setRequestProperty("X-Timestamp", timestamp);
        http.setRequestProperty("X-Signature", sign(clientId, timestamp, setting("CLIENT_SECRET"), body));
        TimerTask deadline = new TimerTask() {
            @Override
            public void run() {
                http.disconnect();
            }
        };
        DEADLINES.schedule(deadline, REQUEST_MS);
        try {
            try (OutputStream out = http.getOutputStream()) {
                out.write(body);
            }
            return new Answer(http);
        } finally {
            deadline.cancel();
        }
    }

    static class Answer {
        final int status;
        final long retryAfter; // seconds, or 0
        final String text;

        Answer(HttpURLConnection http) throws IOException {
            status = http.getResponseCode();
            retryAfter = Math.min(http.getHeaderFieldLong("Retry-After", 0), LONGEST_PAUSE_S);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (InputStream content = status < 400 ? http.getInputStream() : http.getErrorStream()) {
                byte[] part = new byte[8192];
                for (int read; content != null && (read = content.read(part)) >= 0; ) {
                    bytes.write(part, 0, read);
                    if (bytes.size() > ANSWER_BYTES) throw new IOException("the answer is too large");
                }
            }
            text = bytes.toString("UTF-8");
        }

        /** 0: every line is in the ledger; 207: each line has its own result. With any other code, no line is applied. */
        boolean hasResults() {
            return text.startsWith("{\"code\":0,") || text.startsWith("{\"code\":207,");
        }
    }

    static String sign(String clientId, String timestamp, String secret, byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
            mac.update((clientId + "\n" + timestamp + "\n").getBytes(UTF_8));
            StringBuilder hex = new StringBuilder();
            for (byte b : mac.doFinal(body)) hex.append(String.format("%02x", b));
            return hex.toString();
        } catch (GeneralSecurityException everyJavaHasHmacSha256) {
            throw new IllegalStateException(everyJavaHasHmacSha256);
        }
    }

    static String setting(String name) {
        String value = System.getenv(name);
        if (value != null && !value.isEmpty()) return value;
        throw new IllegalStateException(name + " is not set");
    }
}
