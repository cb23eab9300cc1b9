import { spawn } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { describeOthersChange } from '../util/file-owners.ts'
import type { AlertWay } from './alerts.ts'

/** A command finds its tools here, and nothing of our environment. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Runs a program for each alert: no shell, no arguments, the alert as one line of JSON on its
 * stdin and its code in `POSTERN_ALERT`.
 * @param file absolute path; the alert is sent when the program exits with 0
 */
export const byCommand = (file: string): AlertWay => ({
  name: 'command',
  send: async (alert, signal) => {
    if (describeOthersChange(file) !== null) throw new OthersProgramError()
    const child = spawn(file, [], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH, POSTERN_ALERT: alert.alert },
      signal,
      killSignal: 'SIGKILL',
    })
    const ended = once(child, 'exit') as Promise<[number | null]>
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify(alert)}\n`)
    const [code] = await ended
    if (code !== 0) throw new AlertRefusedError('it ended otherwise than with 0')
  },
})

/**
 * POSTs each alert as JSON; no redirect is followed, nothing of the answer but its status is read.
 * @param url https, or http on loopback; it may hold a secret
 */
export const byUrl = (url: { reveal(): string }): AlertWay => ({
  name: 'url',
  send: async (alert, signal) => {
    const target = url.reveal()
    const { request } = target.startsWith('https:') ? https : http
    const headers = { 'content-type': 'application/json' }
    const call = request(target, { method: 'POST', headers, signal }).on('error', () => {})
    call.end(JSON.stringify(alert))
    const [answer] = (await once(call, 'response')) as [http.IncomingMessage]
    answer.destroy()
    const { statusCode = 0 } = answer
    if (statusCode < 200 || statusCode > 299) throw new AlertRefusedError('its status was not 2xx')
  },
})

/** Others can change the program; the settings are refused for it at the next start. */
class OthersProgramError extends Error {
  override name = 'OthersProgramError'
}

class AlertRefusedError extends Error {
  override name = 'AlertRefusedError'
}
