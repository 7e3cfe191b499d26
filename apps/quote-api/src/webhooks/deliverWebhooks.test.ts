import { expect, test } from 'vitest'
import { countedDatabase } from '../../test/settlementSupport/countedDatabase.ts'
import { createWebhookDelivery, type WebhookDeliveryOptions } from './deliverWebhooks.ts'

function delivery() {
  let waits = false
  const { database, take } = countedDatabase((text) => (text.includes('as waits') ? [{ waits }] : undefined))
  let nowMs = 0
  // CAST: without a message nothing is sent, and without a stored secret only the name of the pepper is looked at.
  const unused = { peppers: { currentId: 'one' } } as Pick<
    WebhookDeliveryOptions,
    'peppers' | 'send' | 'retry'
  >
  const { job } = createWebhookDelivery({
    ...unused,
    database,
    keptDays: 30,
    random: () => 0,
    now: () => nowMs,
    onAttempt: () => undefined,
    onFailure: () => undefined,
  })
  const run = { fence: async () => undefined, signal: new AbortController().signal }
  return {
    wait: () => {
      waits = true
    },
    async asked(ms = 500) {
      nowMs += ms
      await job.run(run)
      return take()
    },
  }
}

test('a run without a waiting message asks one question', async () => {
  const { asked } = delivery()
  await asked()
  expect(await asked()).toHaveLength(1)
})

test('a message that waits is taken and sent by the next run', async () => {
  const { asked, wait } = delivery()
  await asked()
  wait()
  const statements = await asked()
  expect(statements.some((text) => text.includes('from outbox'))).toBe(true)
  expect(statements.some((text) => text.includes('from webhook_endpoint'))).toBe(true)
})

test('the hourly upkeep needs no message', async () => {
  const { asked } = delivery()
  await asked()
  expect((await asked(3_600_000)).some((text) => text.startsWith('delete from webhook_delivery'))).toBe(true)
})
