// Goal: one socket follows so many requests and no more, whatever it asks for, and says why it refuses the next one.
import { expect, test } from 'vitest'
import { statusSocket } from './statusSocket.ts'

const idOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}`

function openSocket() {
  const sent: { type?: string; data?: { code?: string } }[] = []
  const followed = new Set<string>()
  const feed = {
    follow(id: string) {
      followed.add(id)
      return { stop: () => void followed.delete(id) }
    },
  }
  const session = statusSocket(feed, () => 0).open({
    id: 'a',
    send: (message) => sent.push(message),
    count: async () => true,
  })
  const say = (type: string, number: number) =>
    session.onMessage({ json: { type, event: 'request.status.updated', filters: { id: idOf(number) } } })
  return { sent, followed, session, say }
}

test('L-85: the request after the hundredth is refused by name, and one that is dropped makes room', async () => {
  const { sent, followed, session, say } = openSocket()
  for (let number = 0; number < 100; number += 1) await say('subscribe', number)
  expect(followed.size).toBe(100)
  await say('subscribe', 100)
  expect(sent.at(-1)).toMatchObject({ type: 'error', data: { code: 'TOO_MANY_SUBSCRIPTIONS' } })
  // Asking for one of them again takes no more room.
  await say('subscribe', 99)
  expect([sent.at(-1)?.type, followed.size]).toEqual(['subscribe', 100])
  await say('unsubscribe', 0)
  await say('subscribe', 100)
  expect([sent.at(-1)?.type, followed.size]).toEqual(['subscribe', 100])
  session.onClose()
  expect(followed.size).toBe(0)
})
