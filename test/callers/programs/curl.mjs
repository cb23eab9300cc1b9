/** Runs the command `curl` once a call: curl reads no list itself. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { answerCalls } from './node-calls.mjs'

const run = promisify(execFile)

await answerCalls(async (method, url, body, { Authorization }) => {
  const verb = { GET: [], HEAD: ['-I'] }[method] ?? ['-X', method]
  const json = body === undefined ? [] : ['--json', JSON.stringify(body)]
  const args = ['-s', ...verb, ...json, '-H', `Authorization: ${Authorization}`, url]
  const { stdout } = await run('curl', [...args, '-w', '\n%{http_code} %{content_type}'])
  const end = stdout.lastIndexOf('\n')
  const [status, ...type] = stdout.slice(end + 1).split(' ')
  return [Number(status), type.join(' '), method === 'HEAD' ? '' : stdout.slice(0, end)]
})
