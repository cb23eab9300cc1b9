import { describe, expect, it } from 'vitest'
import { pathProblem } from '../../src/http/request-path.ts'

const problem = (target: string) => pathProblem(target, 2048)

describe('a request target', () => {
  it.each([
    '/',
    '/bot/v1/me',
    '/bot/v1/updates?offset=5&limit=10&timeout=50',
    '/bot/v1/chats/-100123/members/7',
    '/bot/v1/callbacks/a.b..c%20d~/answer',
    '/bot/v1/messages/5?x=..%2F..&y=//&z=%25zz&u=%C3%A9',
    '/bot/v1/resolve/%41lice',
    '/bot/v1/...',
  ])('%s passes', (target) => {
    expect(problem(target)).toBeNull()
  })

  it.each([
    ['is absolute', 'http://evil.example/bot/v1/me'],
    ['is an authority', 'evil.example:443'],
    ['is a star', '*'],
    ['is empty', ''],
    ['has a dot segment', '/bot/v1/../token'],
    ['has a dot segment at the end', '/bot/v1/..'],
    ['has a single dot', '/bot/./v1/me'],
    ['has an encoded dot segment', '/bot/v1/messages/%2e%2e'],
    ['has a half encoded dot segment', '/bot/v1/.%2E/x'],
    ['has a dot segment with parameters', '/bot/v1/..;/x'],
    ['has an encoded slash', '/media/..%2f..%2fbot%2fv1%2ftoken%2frevoke'],
    ['has an upper-case encoded slash', '/bot/v1/a%2Fb'],
    ['has an encoded backslash', '/bot/v1/a%5cb'],
    ['has a backslash', '/bot/v1/a\\b'],
    ['is encoded twice', '/bot/v1/%252e%252e/x'],
    ['has an empty segment', '//evil.example/bot/v1/me'],
    ['has an empty segment inside', '/bot//v1/me'],
    ['has a bad escape', '/bot/v1/%zz'],
    ['has a cut escape', '/bot/v1/a%2'],
    ['has a bad escape in the query', '/bot/v1/me?a=%'],
    ['is not UTF-8', '/bot/v1/%ff'],
    ['is not UTF-8 in the query', '/bot/v1/me?a=%c3'],
    ['is a lone surrogate', '/bot/v1/%ed%a0%80'],
    ['has a NUL', '/bot/v1/a%00'],
    ['has a line break', '/bot/v1/a%0d%0ab'],
    ['has a fragment', '/bot/v1/me#x'],
    ['has letters outside ASCII', '/bot/v1/\u00e9'],
    ['has a raw control character', '/bot/v1/a\u0001'],
    ['has a space', '/bot/v1/a b'],
    ['is too long', `/bot/v1/messages/${'5'.repeat(5000)}`],
  ])('that %s is refused', (_what: string, target) => {
    expect(problem(target)).toEqual(expect.any(String))
  })

  it('is never repeated in what is said about it', () => {
    expect(problem('/bot/v1/canary/%zz')).not.toContain('canary')
  })
})
