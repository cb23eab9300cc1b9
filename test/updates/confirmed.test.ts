import { expect, test } from 'vitest'
import { openBot } from './bot.ts'
import { openScene, until } from './support.ts'

test('an update that the bot’s webhook accepted is `replayed` when the service repeats it, also in a poll', async () => {
  const scene = await openScene({ time: 'real' })
  const { control, home } = scene.sandbox
  const [words] = await scene.write(1)
  const [update] = (await scene.past('GET', '/updates')).result
  const bot = await openBot()
  await scene.call('POST', '/webhook', { url: bot.url })
  const again = async () => {
    await until(async () => (await scene.past('GET', '/webhook')).result.pending === 0)
    await control.injectUpdate({ botId: home.bot.id, update })
  }
  const delivered = async (count: number) => {
    await bot.until(count)
    const { message } = JSON.parse(bot.deliveries[count - 1]?.body ?? '')
    return [message.postern.verdict, message.postern.reason, message.text]
  }
  expect(await delivered(1)).toEqual(['verified', undefined, words])
  const [more] = await scene.write(1)
  expect(await delivered(2)).toEqual(['verified', undefined, more])
  const refused = ['replayed', 'confirmed-before', undefined]
  await again()
  expect(await delivered(3)).toEqual(refused)
  await scene.restart()
  const [last] = await scene.write(1)
  expect(await delivered(4)).toEqual(['verified', undefined, last])
  await again()
  expect(await delivered(5)).toEqual(refused)
  await scene.call('DELETE', '/webhook')
  await again()
  const { message } = await until(async () => (await scene.call('GET', '/updates')).result[0])
  expect([message.postern.verdict, message.postern.reason, message.text]).toEqual(refused)
})
