// One sponsored request with an app fee, from its quote to the debit of its sponsor.
import type { Hex } from '@causeway/core'
import { type LocalAccount, waitUntil } from '@causeway/localnet'
import { z } from 'zod'
import { readOk, send } from '../../../apps/quote-api/test/serviceSupport/callService.ts'
import { userOf } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { balanceOf, bodyOf, heldOf, newUser, quoteOf, type Sponsor } from './quoteRequests.ts'
import type { Quote } from './quoteShapes.ts'
import type { QuoteWorld } from './quoteWorld.ts'

export type FilledRequest = {
  readonly quote: Quote
  /** To whom its app fee is owed. */
  readonly app: Hex
  /** The sponsor's loss by it, in micro-dollars. */
  readonly spent: bigint
}

const hex = z.templateLiteral(['0x', z.string()])
const stepsShape = z.array(
  z.object({
    id: z.string(),
    items: z.array(z.object({ data: z.object({ to: hex, data: hex, value: z.string() }) })),
  }),
)

/** Sends steps of Base as the user's wallet does, and makes them final. */
export async function sendSteps(
  { network }: QuoteWorld,
  user: LocalAccount,
  steps: Quote['steps'],
): Promise<void> {
  const transactions = stepsShape
    .parse(steps)
    .flatMap(({ id, items }) =>
      items.map(({ data: { to, data, value } }) => ({ what: id, to, data, valueWei: BigInt(value) })),
    )
  await network.chains.base.chain.send(user, transactions)
  await network.mine('base', 3)
}

/** The user deposits, the solver fills, the oracles attest it, and the sponsor is debited. */
export async function fillRequest(world: QuoteWorld, { headers, wallet }: Sponsor): Promise<FilledRequest> {
  const { network, solver, urls } = world
  const [app, user] = [newUser(), userOf(network, 0)]
  const before = {
    balance: await balanceOf(world, wallet.address),
    held: await heldOf(world, wallet.address),
  }
  const more = { subsidizeFees: true, appFees: [{ recipient: app, fee: '100' }] }
  const quote = await quoteOf(world, bodyOf(world, { more }), headers)
  await sendSteps(world, user, quote.steps)
  const workFor = async () => (await solver.work()).find(({ requestId }) => requestId === quote.requestId)
  await waitUntil('there is a fill to pay', async () => (await workFor()) !== undefined)
  const item = await workFor()
  if (item === undefined) throw new Error('the work is gone')
  await solver.carryOut(item)
  await network.mine('optimism', 3)
  await waitUntil('it is filled', async () => {
    const { text } = await send(`${urls.publicUrl}/intents/status/v3?requestId=${quote.requestId}`)
    return text.includes('"status":"success"')
  })
  const isReleased = async () => (await heldOf(world, wallet.address)) === before.held
  await waitUntil('the sponsor is debited', isReleased)
  const spent = before.balance - (await balanceOf(world, wallet.address))
  return { quote, app, spent }
}

const claimableShape = z.object({
  balances: z.array(z.looseObject({ amount: z.string(), currency: z.looseObject({ address: z.string() }) })),
})

/** App fees that an app may claim. */
export async function claimableBy({ urls }: QuoteWorld, app: string) {
  return readOk(await send(`${urls.publicUrl}/app-fees/${app}/claimable`), claimableShape).balances
}
