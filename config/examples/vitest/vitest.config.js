// A phone waits ten seconds for a message, and then says what it showed instead.
export default { test: { testTimeout: 20_000 } }
