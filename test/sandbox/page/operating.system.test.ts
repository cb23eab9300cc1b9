/** Operating from the page: faults by fields, the sidecar's readiness and restarts, other worlds. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { FAULT_NAMES, FAULTS, type FaultName } from '../../../src/sandbox/faults/table.ts'
import { hasBrowser, type Tab } from '../../support/browser.ts'
import { rowOf, usePage, write } from '../../support/page-use.ts'

const KINDS = new URL('../../../src/sandbox/page/browser/fault-kinds.js', import.meta.url).href
const { NOTICED } = (await import(KINDS)) as { NOTICED: Record<FaultName, string> }

test('`NOTICED` has a sentence of every fault', () => {
  expect(Object.keys(NOTICED).toSorted()).toEqual(FAULT_NAMES.toSorted())
  for (const name of FAULT_NAMES) expect(NOTICED[name]).toMatch(/^[A-Z].*\.$/)
})

describe.skipIf(!hasBrowser)('faults, readiness and worlds on the page', () => {
  const stage = usePage()
  let tab: Tab
  let page: Page
  beforeAll(async () => {
    tab = await stage.open('#/world')
    page = tab.page
  })
  afterAll(() => tab[Symbol.asyncDispose]())

  const form = () => page.getByRole('region', { name: 'Faults' })
  const set = async (): Promise<void> => {
    await form().getByRole('button', { name: 'Set' }).click()
  }

  test('the form of each fault shows its sentences and fields', async () => {
    await page.evaluate(() => (location.hash = '#/world'))
    const choice = form().getByRole('combobox', { name: 'Fault' })
    for (const name of FAULT_NAMES) {
      await choice.selectOption(name)
      const { does, options } = FAULTS[name]
      await form().getByText(does.replaceAll('`', '')).last().waitFor()
      expect(await form().locator('#fault-does').innerText()).toContain(NOTICED[name])
      const shown = await form()
        .locator('form [name]')
        .evaluateAll((all) => all.map((one) => one.getAttribute('name')))
      const common = ['name', 'route', 'botId', 'times', 'after']
      const own = shown.filter((one) => !common.includes(one ?? ''))
      const isCertificate = (one: string) => one === 'publicKey' || one === 'fingerprint'
      const wanted = new Set(options.map((one) => (isCertificate(one) ? 'certificateOf' : one)))
      expect([name, own.toSorted()]).toEqual([name, [...wanted].toSorted()])
    }
  })

  test('the form of a fault sets the fault with the values of its fields, or shows the refusal', async () => {
    const { control, home } = stage.sandbox
    const choice = form().getByRole('combobox', { name: 'Fault' })
    await choice.selectOption('answer')
    await form().getByRole('spinbutton', { name: 'Status' }).fill('503')
    await form().getByLabel('Headers, one a line').fill('X-One: a: b\nX-Two: c')
    await form().getByRole('textbox', { name: 'Body' }).fill('{"ok":false}')
    await form().getByRole('combobox', { name: 'Route' }).selectOption('getChat')
    await form().getByRole('spinbutton', { name: 'Times' }).fill('2')
    await set()
    await expect
      .poll(() => control.faults())
      .toMatchObject([
        {
          name: 'answer',
          status: 503,
          headers: { 'X-One': 'a: b', 'X-Two': 'c' },
          body: '{"ok":false}',
          route: 'getChat',
          left: 2,
        },
      ])
    await control.clearFaults({})
    await choice.selectOption('ghost')
    await form().getByRole('combobox', { name: 'Chat' }).selectOption(String(home.encryptedGroup))
    await form().getByRole('combobox', { name: 'Whose' }).selectOption('Bob')
    await form().getByRole('combobox', { name: 'Shows the certificate of' }).selectOption('Alice')
    await set()
    const alice = await control.certificate({ userId: home.alice.id })
    await expect
      .poll(() => control.faults())
      .toMatchObject([{ chatId: home.encryptedGroup, userId: home.bob.id, ...alice }])
    await control.clearFaults({})
    await choice.selectOption('late-key')
    await set()
    await page.locator('.notice.problem', { hasText: 'late-key does nothing without' }).waitFor()
    expect(await control.faults()).toEqual([])
  })

  test('the header shows the readiness of the sidecar, with reason, time and hint', async () => {
    await page.locator('.side').getByText('Sidecar ready').waitFor()
    await stage.sandbox.control.fault({ name: 'claim-unprotected' })
    const reason = page.locator('.side .reason').first()
    await reason.waitFor({ timeout: 30_000 })
    const { reasons } = (await (await fetch(`${stage.url}/sidecar`)).json()).result as {
      reasons: { code: string; hint: string }[]
    }
    const [first] = reasons
    await page.locator('.side').getByText('Sidecar not ready').waitFor()
    expect(await reason.innerText()).toMatch(/since \d\d:\d\d/)
    expect(await page.locator('.side').innerText()).toContain(first?.hint ?? 'no reason')
    await stage.sandbox.control.clearFaults({})
    await page.locator('.side').getByText('Sidecar ready').waitFor({ timeout: 30_000 })
  }, 90_000)

  test('the restart buttons restart the sidecar, and show why the bot does not start', async () => {
    expect(await page.getByRole('button', { name: /^Restart/ }).count()).toBe(0)
    let restarted = 0
    stage.restarts.set('sidecar', () => Promise.resolve(void restarted++))
    stage.restarts.set('bot', () => Promise.reject(new Error('there is no such program')))
    await page.getByRole('button', { name: 'Restart sidecar' }).click()
    await page.locator('.notice', { hasText: 'The sidecar was started anew.' }).waitFor()
    expect(restarted).toBe(1)
    await page.getByRole('button', { name: 'Restart bot' }).click()
    await page.locator('.notice.problem', { hasText: 'no such program' }).waitFor()
    stage.restarts.clear()
  })

  test('a second world is chosen by its name, and its messages are not in the main world', async () => {
    const { sandbox } = stage
    await sandbox.control.addWorld({ name: 'aside' })
    await page.reload()
    await page.getByRole('combobox', { name: 'World' }).selectOption('aside')
    await page.waitForURL(/\/worlds\/aside\//)
    await page.getByRole('textbox', { name: 'Write as Alice' }).waitFor()
    await write(page, 'in the other world')
    expect(await page.locator('.side').getByText('Sidecar ready').count()).toBe(0)
    await page.getByRole('combobox', { name: 'World' }).selectOption('main')
    await page.waitForURL((url) => url.pathname === '/')
    await page.getByRole('textbox', { name: 'Write as Alice' }).waitFor()
    expect(await rowOf(page, 'in the other world').count()).toBe(0)
    expect(sandbox.transcript.search('in the other world')).toEqual([])
  })
})
