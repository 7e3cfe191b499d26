// A process that sends webhooks until it is killed.
import { Secret } from '@causeway/core'
import { createDatabase } from '@causeway/database'
import { parsePeppers } from '../../src/access/keys/peppers.ts'
import { createWebhookDelivery } from '../../src/webhooks/deliverWebhooks.ts'
import { createMessageSender } from '../../src/webhooks/sendMessage.ts'
import { pepperText } from '../sponsorSupport/sponsors.ts'

const [connectionString = ''] = process.argv.slice(2)
const delivery = createWebhookDelivery({
  keptDays: 30,
  database: createDatabase({ connectionString, poolSize: 2 }),
  peppers: parsePeppers(new Secret(pepperText)),
  send: createMessageSender({ allowPrivate: true, timeoutMs: 60_000, now: () => Date.now() }),
  retry: { firstMs: 10 },
  random: () => 0.5,
  now: () => performance.now(),
  onAttempt: ({ eventId, result }) => process.stdout.write(`${eventId} ${result.outcome}\n`),
  onFailure: (error) => process.stdout.write(`failed ${String(error)}\n`),
})
const run = { fence: async () => {}, signal: new AbortController().signal }
for (;;) {
  await delivery.job.run(run)
  await new Promise((resolve) => setTimeout(resolve, 20))
}
