/** The number on the page is the one that the operator of the sidecar compares. */
import { afterEach, describe, expect, test } from 'vitest'
import { hasBrowser, NARROW, WIDE, type Tab } from '../../support/browser.ts'
import { usePage } from '../../support/page-use.ts'

describe.skipIf(!hasBrowser)('the safety number on the page', () => {
  const stage = usePage()
  const tabs: Tab[] = []
  afterEach(async () => {
    for (const tab of tabs.splice(0)) {
      expect(tab.problems).toEqual([])
      await tab[Symbol.asyncDispose]()
    }
  })

  async function openMembers(place: string, button: RegExp, viewport = WIDE) {
    const tab = await stage.open(place, { viewport })
    tabs.push(tab)
    await tab.page.getByRole('button', { name: button }).click()
    return tab.page.getByRole('region', { name: 'Safety number' })
  }

  test.each([
    ['wide', WIDE],
    ['narrow', NARROW],
  ])(
    'the safety number on a %s page has twelve groups and a QR text that verify the person',
    async (_, view) => {
      const { home } = stage.sandbox
      const { id: userId } = home.alice
      const region = await openMembers(`#/as/alice/${home.privateChat}`, /^with/, view)
      await region.waitFor()
      const groups = await region.locator('li').allTextContents()
      expect(groups).toHaveLength(12)
      expect(await region.textContent()).toContain('Safety number of Alice and Echo')
      const boxes = await region
        .locator('li')
        .evaluateAll((items) => items.map((item) => item.getBoundingClientRect().top))
      expect(new Set(boxes).size, 'four lines of three').toBe(4)
      const number = await stage.operations.trustNumber({ person: String(userId), isListed: false })
      expect(groups.join('')).toBe(number.digits)
      const text = await region.locator('.fingerprint').textContent()
      for (const given of [groups.join(' '), text ?? '']) {
        const { message } = await stage.operations.trustCompare({
          person: String(userId),
          isListed: false,
          given,
        })
        expect(message).toContain('the numbers are equal')
      }
    },
  )

  test('the safety number of each person of a group changes with a new key', async () => {
    const { control, home } = stage.sandbox
    const region = await openMembers(`#/as/bob/${home.encryptedGroup}`, /members$/)
    await region.waitFor()
    const before = await region.locator('ol').textContent()
    await control.newKey({ userId: home.bob.id })
    await expect.poll(() => region.locator('ol').textContent()).not.toBe(before)
    const { digits } = await stage.operations.trustNumber({
      person: String(home.bob.id),
      isListed: false,
    })
    await expect.poll(() => region.locator('ol').textContent()).toBe(digits)
  })

  test('the safety number under a swapped key is refused by `trust compare`', async () => {
    const { control, home } = stage.sandbox
    const { id: userId } = await control.addPerson({ username: 'carol' })
    await control.givePhone({ userId })
    const { id: chatId } = await control.addPrivateChat({ userId, botId: home.bot.id })
    const stranger = await control.addPerson({ username: 'mallory' })
    await control.givePhone({ userId: stranger.id })
    const certificate = (await control.certificate({ userId: stranger.id }))!
    const fault = await control.fault({ name: 'swap-key', userId, ...certificate })
    const region = await openMembers(`#/as/carol/${chatId}`, /^with/)
    await region.waitFor()
    const given = (await region.locator('ol').textContent()) ?? ''
    await expect(
      stage.operations.trustCompare({ person: String(userId), isListed: false, given }),
    ).rejects.toMatchObject({ code: 'number-differs' })
    await control.clearFaults(fault)
  })
})
