// What the sandbox and the sidecar need; an older Node fails with errors of its own.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  const found = `this is Node ${process.versions.node}`
  throw new Error(`Postern needs Node 24.15 or newer, and ${found}: https://nodejs.org`)
}

// A phone waits ten seconds for a message, and then says what it showed instead.
export default { test: { testTimeout: 20_000 } }
