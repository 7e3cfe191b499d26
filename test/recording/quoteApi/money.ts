// Balances, their events, app fees and their claims, top-ups that name nobody. Comes after a filled request with
// app fees for the sixth user.
import { encodeFunctionData, erc20Abi, keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { createScriptedSolver } from '../../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import { type Answered, textAt } from '../support/session.ts'
import type { QuoteStage } from '../support/stage.ts'
import { solverKey } from '../support/world.ts'
import { poorUser } from './bodies.ts'

const execution = {
  executionKind: 'rawCalls',
  data: { chainId: 8_453, to: `0x${'a1'.repeat(20)}`, data: '0x', value: '0' },
  requestId: `0x${'1d'.repeat(32)}`,
}

export async function recordMoney(stage: QuoteStage): Promise<void> {
  const { quoteApi, sponsor, poorSponsor } = stage
  const { headers } = sponsor
  const wallet = sponsor.wallet.address
  const get = (name: string, path: string, more: object = {}) => quoteApi.ask({ name, path, ...more })
  await get('balance of the sponsor', `/app-fees/${wallet}/balances`)
  await get('balance of nobody', `/app-fees/${poorUser(77)}/balances`)
  await get('balance of no wallet', '/app-fees/0x12/balances')
  const events = `/balance-events/${wallet}`
  await get('events', events, { headers })
  await get('events of top-ups', `${events}?context=topup`, { headers })
  await get('events on a chain', `${events}?chainId=8453&limit=1`, { headers })
  await get('events in another currency', `${events}?currency=${poorUser(78)}`, { headers })
  await get('events of no request', `${events}?requestId=0x${'56'.repeat(32)}`, { headers })
  await get('events of an unknown context', `${events}?context=gift`, { headers })
  await get('events without key', events)
  await get('events with the key of another', events, { headers: poorSponsor.headers })
  await get('events after a page that does not exist', `${events}?cursor=nonsense`, { headers })
  const statement = `/sponsorship/statements/${wallet}?month=2026-10`
  await get('statement of a month that is over', statement, { headers })
  await get('statement as CSV', `${statement}&groupBy=day,user,key&format=csv`, { headers })
  await get('statement of no month', `/sponsorship/statements/${wallet}?month=2026-13`, { headers })
  await get('statement with the key of another', statement, { headers: poorSponsor.headers })
  await recordUsage(stage)
  await recordClaims(stage)
  await recordTopUpClaims(stage)
}

/** Records the usage of a key; the counts themselves may differ between runs. */
async function recordUsage({ quoteApi, sponsor, walletless }: QuoteStage): Promise<void> {
  const usage = (name: string, query: string, headers: object = walletless.headers) => ({
    name,
    path: `/metrics/usage${query}`,
    headers: { ...headers },
    volatile: ['count', 'timestamp'],
  })
  // Asking is counted as well: once that is stored, so is all that was asked before.
  const isStored = ({ body }: Answered) => JSON.stringify(body).includes('"/metrics/usage"')
  await quoteApi.prepare({ ...usage('usage until now', '?granularity=daily'), until: isStored })
  await quoteApi.ask(usage('usage of a key', '?granularity=daily'))
  await quoteApi.ask(usage('usage before there was any', '?granularity=daily&endTimestamp=1'))
  await quoteApi.ask(usage('usage of the key of another', `?apiKey=${sponsor.keyId}`))
  await quoteApi.ask(usage('usage of fortnights', '?granularity=fortnightly'))
  await quoteApi.ask(usage('usage without key', '', {}))
}

const claimSchema = z.object({
  steps: z.tuple([
    z.object({
      requestId: z.string(),
      items: z.tuple([
        z.object({
          data: z.object({
            sign: z.object({
              domain: z.looseObject({}),
              types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
              primaryType: z.string(),
              value: z.record(z.string(), z.unknown()),
            }),
          }),
        }),
      ]),
    }),
  ]),
})

/** App fees of the sixth user, from what is owed to the payout. */
async function recordClaims({ quoteApi, world, user }: QuoteStage): Promise<void> {
  const owner = user(5)
  const place = `/app-fees/${owner.address}`
  const { USDC: currency } = world.network.deployment.base.tokens
  const recipient = poorUser(79)
  const body = { chainId: 8_453, currency, recipient }
  const isOwed = (answer: Answered) => JSON.stringify(answer.body).includes('"amount"')
  await quoteApi.ask({ name: 'claimable', path: `${place}/claimable`, until: isOwed })
  await quoteApi.ask({ name: 'claimable by nobody', path: `/app-fees/${poorUser(80)}/claimable` })
  await quoteApi.ask({ name: 'claims of no wallet', path: '/app-fees/me/claims' })
  await quoteApi.ask({ name: 'claims before the first', path: `${place}/claims` })
  await quoteApi.ask({ name: 'balance with app fees', path: `${place}/balances` })
  const claim = (name: string, change: object, more: object = {}) =>
    quoteApi.ask({ name: `claim ${name}`, path: `${place}/claim`, body: { ...body, ...change }, ...more })
  // Gas costs what the blocks before left it at.
  const ofGas = { volatile: ['errorData'] }
  await claim('of more than is owed', { amount: '999999999' })
  await claim('of nothing', { amount: '0' }, ofGas)
  await claim('of too little', { amount: '1' }, ofGas)
  await claim('on an unknown chain', { chainId: 1 })
  await claim('of an unknown currency', { currency: poorUser(81) })
  await claim('to the token', { recipient: currency })
  await claim('to no address', { recipient: 'me' })
  await claim('without recipient', { recipient: undefined })
  await claim('of half', { amount: '200000' })
  const prepared = await claim('of all', {})
  const [{ requestId, items }] = claimSchema.parse(prepared.body).steps
  quoteApi.name(requestId, 'claim')
  const { domain, types, primaryType, value: message } = items[0].data.sign
  const sign = (by: number) =>
    privateKeyToAccount(user(by).privateKey).signTypedData({ domain, types, primaryType, message })
  const [wrong, right] = [await sign(0), await sign(5)]
  quoteApi.name(wrong, 'signature of another wallet')
  quoteApi.name(right, 'signature of the wallet over its claim')
  const hand = (name: string, signature: string, kind = 'claim') =>
    quoteApi.ask({ name, path: `/execute/permits?signature=${signature}`, body: { kind, requestId } })
  await hand('claim signed by another wallet', wrong)
  await hand('claim signed', right)
  await hand('claim signed once more, by its other name', right, 'request')
  await quoteApi.ask({ name: 'execution without a key', path: '/execute', body: execution })
  await quoteApi.ask({ name: 'claims with one that waits', path: `${place}/claims` })
  await quoteApi.ask({ name: 'claimable after the claim', path: `${place}/claimable` })
  const solver = createScriptedSolver({
    network: world.network,
    url: world.quoteApi.publicUrl,
    apiKey: solverKey,
  })
  await quoteApi.ask({
    name: 'work: a claim',
    path: '/solver/work',
    headers: { 'x-api-key': solverKey },
    // Some of the listed work was quoted well before, which tells deadlines; gas is charged at the price of the moment.
    volatile: ['deadline', 'gasCharged'],
    until: (answer) => JSON.stringify(answer.body).includes(requestId),
  })
  const item = (await solver.work()).find(({ kind }) => kind === 'claim')
  if (item === undefined) throw new Error('there is no claim to pay')
  quoteApi.name(await solver.carryOut(item), 'payout')
  await world.finish('base')
  const isPaid = (answer: Answered) => JSON.stringify(answer.body).includes('"status":"paid"')
  await quoteApi.ask({ name: 'claims with one that is paid', path: `${place}/claims?limit=1`, until: isPaid })
  await quoteApi.ask({ name: 'claims, a limit of zero', path: `${place}/claims?limit=0` })
  await quoteApi.ask({
    name: 'claims after a page that does not exist',
    path: `${place}/claims?continuation=!`,
  })
}

/** The third user paid the custody without a label before the services started. */
async function recordTopUpClaims({ quoteApi, admin, world, user, poorSponsor }: QuoteStage): Promise<void> {
  const [challengePath, claimPath] = ['/app-balance/claims/challenge', '/app-balance/claims']
  const transactionHash = await labellessPayment(world.network, user(2).privateKey)
  const wallet = poorSponsor.wallet.address
  const transfer = { transactionHash, wallet }
  await admin.prepare({
    name: 'suspense',
    path: '/admin/suspense',
    until: ({ body }) => JSON.stringify(body).includes(transactionHash),
  })
  const asks = (name: string, body: object) =>
    quoteApi.ask({ name: `challenge ${name}`, path: challengePath, body })
  await asks('for an unknown transfer', { ...transfer, transactionHash: `0x${'57'.repeat(32)}` })
  await asks('for another of its logs', { ...transfer, logOrdinal: 7 })
  await asks('for no hash', { ...transfer, transactionHash: 'x' })
  await asks('for no wallet', { transactionHash })
  const challenge = await asks('for the transfer', transfer)
  const message = textAt(challenge, 'message')
  const sign = (by: number) => privateKeyToAccount(user(by).privateKey).signMessage({ message })
  const [wrong, right] = [await sign(0), await sign(2)]
  quoteApi.name(wrong, 'signature of another sender')
  quoteApi.name(right, 'signature of the sender')
  const claims = (name: string, body: object) =>
    quoteApi.ask({ name: `claim of a transfer ${name}`, path: claimPath, body })
  await claims('signed by another', { ...transfer, message, signature: wrong })
  await claims('over another text', { ...transfer, message: 'mine', signature: right })
  await claims('for another wallet', { ...transfer, wallet: poorUser(82), message, signature: right })
  await claims('without signature', { ...transfer, message })
  await claims('by its sender', { ...transfer, message, signature: right })
  await claims('a second time', { ...transfer, message, signature: right })
  await asks('for a transfer that was claimed', transfer)
}

/** The hash of the payment that the world begins with: a transaction is the same whenever it is signed again. */
async function labellessPayment(
  { deployment, keys, chains }: QuoteStage['world']['network'],
  privateKey: `0x${string}`,
) {
  const args = [keys.custody.address, 7_000_000n] as const
  const raw = await privateKeyToAccount(privateKey).signTransaction({
    type: 'eip1559',
    chainId: chains.base.chainId,
    nonce: 0,
    to: deployment.base.tokens.USDC,
    value: 0n,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }),
    gas: 16_000_000n,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 0n,
  })
  return keccak256(raw)
}
