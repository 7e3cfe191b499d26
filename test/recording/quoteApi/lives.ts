// Requests from their quote to their end: filled, refunded, executed by their user alone, by permit, by a deposit
// address; and what status, history, solver and sponsor are told meanwhile.
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { deposit } from '../../../apps/oracle/test/support/protocolActors.ts'
import { createScriptedSolver } from '../../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import { type Answered, textAt } from '../support/session.ts'
import { hexOf, type QuoteStage } from '../support/stage.ts'
import { solverKey } from '../support/world.ts'
import { askPriced, bodyOf, type Wish } from './bodies.ts'
import { appFeeWallet } from './priced.ts'

const permitSchema = z.object({
  steps: z.tuple([
    z.object({
      items: z.tuple([
        z.object({
          data: z.object({
            sign: z.object({
              domain: z.looseObject({ verifyingContract: z.string() }),
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

type Quoted = { readonly requestId: string; readonly orderId: string; readonly answer: Answered }

const solverHeaders = { 'x-api-key': solverKey }
const statusPaths = ['/intents/status', '/intents/status/v2', '/intents/status/v3']

async function quoted(stage: QuoteStage, name: string, wish: Wish, path = '/quote'): Promise<Quoted> {
  const { quoteApi, sponsor, world } = stage
  const body = bodyOf(world.network, wish)
  const answer = await askPriced(quoteApi, {
    name: `${name} is quoted`,
    path,
    body,
    headers: sponsor.headers,
  })
  const requestId = textAt(answer, 'requestId')
  quoteApi.name(requestId, `request of ${name}`)
  const hasOrder = JSON.stringify(answer.body).includes('"orderId"')
  const orderId = hasOrder ? textAt(answer, 'protocol', 'v2', 'orderId') : ''
  if (hasOrder) quoteApi.name(orderId, `order of ${name}`)
  return { requestId, orderId, answer }
}

async function recordStatus(
  { quoteApi }: QuoteStage,
  name: string,
  { requestId }: Quoted,
  status?: string,
): Promise<void> {
  const isReached = ({ body }: Answered) =>
    status === undefined || JSON.stringify(body).includes(`"status":"${status}"`)
  await quoteApi.prepare({ name, path: `/intents/status/v3?requestId=${requestId}`, until: isReached })
  for (const path of statusPaths) {
    await quoteApi.ask({ name: `${path} of ${name}`, path: `${path}?requestId=${requestId}` })
  }
}

/** Sends the transactions of a quote as the user's wallet does. @returns the last one's hash */
async function execute({ world, user }: QuoteStage, { answer }: Quoted): Promise<void> {
  const transactions = transactionsOf(answer).map(({ to, data, value }) => ({
    what: 'a step',
    to: hexOf(to),
    data: hexOf(data),
    valueWei: BigInt(value),
  }))
  await world.network.chains.base.chain.send(user(0), transactions)
  await world.finish('base')
}

function transactionsOf({ body }: Answered): { to: string; data: string; value: string }[] {
  const found: { to: string; data: string; value: string }[] = []
  JSON.stringify(body, (_name, value) => {
    const isTransaction =
      typeof value === 'object' && value !== null && 'to' in value && 'maxFeePerGas' in value
    if (isTransaction)
      found.push({ to: String(value.to), data: String(value.data), value: String(value.value) })
    return value
  })
  return found
}

export async function recordLives(stage: QuoteStage): Promise<void> {
  const { quoteApi, world } = stage
  const solver = createScriptedSolver({
    network: world.network,
    url: world.quoteApi.publicUrl,
    apiKey: solverKey,
  })
  const work = (name: string, requestId: string, kind = '') =>
    quoteApi.ask({
      // Its code holds the request's id.
      name,
      path: '/solver/work',
      headers: solverHeaders,
      volatile: ['booking'],
      until: ({ body }) => {
        const text = JSON.stringify(body)
        return text.includes(requestId) && text.includes(kind)
      },
    })
  const appFees = [{ recipient: stage.user(5).address, fee: '100' }]
  // All of them before a chain moves, so that all are priced at what the recording stands still at.
  const filled = await quoted(stage, 'a filled request', {
    amount: '40000000',
    more: { subsidizeFees: true, appFees },
  })
  const refunded = await quoted(stage, 'a refunded request', { amount: '41000000' })
  const short = await quoted(stage, 'a short request', { amount: '44000000' })
  const alone = await quoted(
    stage,
    'a send',
    { to: 'base', amount: '42000000', more: { recipient: appFeeWallet(4) } },
    '/quote/v2',
  )
  const permitted = await quoted(stage, 'a permit', { amount: '43000000', more: { usePermit: true } })
  await recordStatus(stage, 'a request that waits', filled)
  await quoteApi.ask({
    name: 'timeline of a request that waits',
    path: `/requests/${filled.requestId}/timeline`,
  })
  await recordPermit(stage, permitted)

  await execute(stage, filled)
  await work('work: a fill', filled.requestId)
  const fill = await itemOf(solver, filled)
  quoteApi.name(fill.id, 'fill')
  await recordStatus(stage, 'a request whose deposit is final', filled)
  await recordSolverRefusals(stage, fill.id)
  const transaction = await solver.carryOut(fill)
  quoteApi.name(transaction, 'fill transaction')
  await world.finish('optimism')
  await recordStatus(stage, 'a filled request', filled, 'success')
  const report = { path: `/solver/work/${fill.id}/report`, headers: solverHeaders }
  await quoteApi.ask({ ...report, name: 'report of work that is done', body: { txHash: transaction } })

  await execute(stage, refunded)
  await work('work: a fill that fails', refunded.requestId)
  const failing = await itemOf(solver, refunded)
  quoteApi.name(failing.id, 'failing fill')
  const failed = { path: `/solver/work/${failing.id}/failed`, headers: solverHeaders }
  const waits = { path: `/solver/work/${failing.id}/waits`, headers: solverHeaders }
  await quoteApi.ask({ ...waits, name: 'work that waits', body: { reason: 'no inventory' } })
  await quoteApi.ask({ ...failed, name: 'work that fails for now', body: { reason: 'no inventory' } })
  // As if it had failed as often as it may.
  await world.database.query('update work_item set attempts = 3, state = $2 where id = $1', [
    failing.id,
    'open',
  ])
  await quoteApi.ask({ ...failed, name: 'work that fails for good', body: { reason: 'no inventory' } })
  await work('work: a refund', refunded.requestId, 'refund')
  const refund = await itemOf(solver, refunded)
  quoteApi.name(refund.id, 'refund')
  quoteApi.name(await solver.carryOut(refund), 'refund transaction')
  await world.finish('base')
  await recordStatus(stage, 'a refunded request', refunded, 'refund')

  const { tokens } = world.network.deployment.base
  const half = { currency: tokens.USDC, amount: 20_000_000n, id: hexOf(short.orderId) }
  quoteApi.name(await deposit(world.network, 'base', stage.user(0), half), 'deposit of half')
  await work('work: a refund of half', short.requestId)
  await recordStatus(stage, 'a request with half of its deposit', short)

  await recordHints(stage, alone)
  await execute(stage, alone)
  await recordStatus(stage, 'a send', alone)
  await recordHistory(stage, { filled, refunded })
}

async function itemOf(solver: ReturnType<typeof createScriptedSolver>, { requestId }: Quoted) {
  const item = (await solver.work()).find((one) => one.requestId === requestId && one.kind !== 'permit')
  if (item === undefined) throw new Error(`there is no work for ${requestId}`)
  return item
}

async function recordSolverRefusals({ quoteApi, walletless }: QuoteStage, id: string): Promise<void> {
  const txHash = `0x${'cd'.repeat(32)}`
  const [list, report, failed] = ['/solver/work', `/solver/work/${id}/report`, `/solver/work/${id}/failed`]
  const asSolver = { headers: solverHeaders }
  await quoteApi.ask({ name: 'work without key', path: list })
  await quoteApi.ask({ name: 'work with the key of a caller', path: list, headers: walletless.headers })
  await quoteApi.ask({ name: 'work, a limit of zero', path: `${list}?limit=0`, ...asSolver })
  await quoteApi.ask({ name: 'work, a wait of an hour', path: `${list}?waitMs=3600000`, ...asSolver })
  await quoteApi.ask({ name: 'work, known to nobody', path: `${list}?waitMs=1&known=all`, ...asSolver })
  await quoteApi.ask({ name: 'work, one item', path: `${list}?limit=1`, ...asSolver, volatile: ['booking'] })
  await quoteApi.ask({ name: 'report without key', path: report, body: { txHash } })
  await quoteApi.ask({ name: 'report of no hash', path: report, body: { txHash: '0x12' }, ...asSolver })
  await quoteApi.ask({
    name: 'report of no item',
    path: '/solver/work/1/report',
    body: { txHash },
    ...asSolver,
  })
  const nobodys = '/solver/work/00000000-0000-4000-8000-000000000000'
  await quoteApi.ask({
    name: 'report of unknown work',
    path: `${nobodys}/report`,
    body: { txHash },
    ...asSolver,
  })
  await quoteApi.ask({
    name: 'failure of unknown work',
    path: `${nobodys}/failed`,
    body: { reason: 'x' },
    ...asSolver,
  })
  await quoteApi.ask({ name: 'failure without reason', path: failed, body: {}, ...asSolver })
  await quoteApi.ask({ name: 'failure without key', path: failed, body: { reason: 'x' } })
}

async function recordHints({ quoteApi }: QuoteStage, { requestId }: Quoted): Promise<void> {
  const [index, single] = ['/transactions/index', '/transactions/single']
  const txHash = `0x${'ce'.repeat(32)}`
  const tx = JSON.stringify({ txHash })
  await quoteApi.ask({ name: 'hint', path: index, body: { chainId: 8_453, txHash } })
  await quoteApi.ask({ name: 'hint of a request', path: index, body: { chainId: '8453', txHash, requestId } })
  await quoteApi.ask({ name: 'hint of an unknown chain', path: index, body: { chainId: 4_242, txHash } })
  await quoteApi.ask({ name: 'hint without hash', path: index, body: { chainId: 8_453 } })
  await quoteApi.ask({ name: 'hint without chain', path: index, body: { txHash } })
  await quoteApi.ask({ name: 'single hint', path: single, body: { requestId, chainId: 8_453, tx } })
  await quoteApi.ask({
    name: 'single hint of a replacement',
    path: single,
    body: { requestId, chainId: '8453', tx: JSON.stringify({ txHash, replacementTxHash: txHash }) },
  })
  await quoteApi.ask({
    name: 'single hint that is no JSON',
    path: single,
    body: { requestId, chainId: 8_453, tx: '{' },
  })
  await quoteApi.ask({ name: 'single hint without request', path: single, body: { chainId: 8_453, tx } })
}

/** Lists and look-ups, by everything that they can be filtered by. */
async function recordHistory(
  { quoteApi, sponsor, poorSponsor, walletless, user }: QuoteStage,
  { filled, refunded }: { readonly filled: Quoted; readonly refunded: Quoted },
): Promise<void> {
  const { headers } = sponsor
  const mine = (name: string, query: string, more: object = {}) =>
    quoteApi.ask({ name: `list: ${name}`, path: `/requests/v3${query}`, headers, ...more })
  const lookUp = (name: string, query: string, more: object = {}) =>
    quoteApi.ask({ name: `look-up: ${name}`, path: `/requests/v2${query}`, ...more })
  // The debit is there, and what the fill gave by an oracle's word.
  const isMeasured = ({ body }: Answered) => {
    const text = JSON.stringify(body)
    return text.includes('"actual"') && text.split('"outputCurrency"').length > 2
  }
  await mine('by id', `?id=${filled.requestId}`, { until: isMeasured })
  await mine('by id with protocol data', `?id=${filled.requestId}&includeProtocolData=true`)
  await mine('by order', `?orderId=${refunded.orderId}`)
  await mine('filled ones', '?status=success')
  await mine('refunded ones, oldest first', '?status=refund&sortDirection=asc')
  await mine('by recipient', `?recipient=${appFeeWallet(4)}`)
  await mine('by chains', '?originChainId=8453&destinationChainId=8453&limit=1')
  await mine('by user', `?user=${user(1).address}&limit=1`)
  await mine('of long ago', '?endTimestamp=1000000000')
  await mine('of the future', '?startTimestamp=4000000000')
  await mine('of another key', '?limit=1', { headers: walletless.headers })
  await mine('without key', '', { headers: {} })
  await mine('a page that does not exist', '?continuation=nonsense')
  await mine('a limit above all', '?limit=51')
  await mine('an unknown status', '?status=lost')
  const page = await mine('two, newest first', '?limit=2')
  const continuation = textAt(page, 'continuation')
  quoteApi.name(continuation, 'the next page')
  await mine('the next page', `?limit=1&continuation=${continuation}`)
  const address = (name: string, query: string, more: object = {}) =>
    quoteApi.ask({
      name: `deposit address: ${name}`,
      path: `/deposit-addresses/v1${query}`,
      headers,
      ...more,
    })
  await address('of a request without one', `?requestId=${filled.requestId}`)
  await address('of nobody', `?address=${appFeeWallet(4)}`)
  await address('without key', `?address=${appFeeWallet(4)}`, { headers: {} })
  await address('unnamed', '')
  const looked = { chainId: 8_453, depositAddress: appFeeWallet(4) }
  const reindex = (name: string, body: object) =>
    quoteApi.ask({ name: `reindex: ${name}`, path: '/transactions/deposit-address/reindex', body })
  await reindex('of nobody', looked)
  await reindex('on another chain', { ...looked, targetChainId: 10 })
  await lookUp('by id', `?id=${filled.requestId}`)
  await lookUp(
    'by id with protocol data',
    `?id=${filled.requestId}&includeProtocolData=true&includeOrderData=true`,
  )
  await lookUp('by order', `?orderId=${refunded.orderId}`)
  await lookUp('by hash that nobody sent', `?hash=0x${'12'.repeat(32)}`)
  await lookUp('by nothing', '')
  await lookUp('by user without key', `?user=${sponsor.wallet.address}`)
  await lookUp('by user with the key of another', `?user=${sponsor.wallet.address}`, {
    headers: poorSponsor.headers,
  })
  await lookUp('by user', `?user=${sponsor.wallet.address}`, { headers })
  await lookUp('by an id that is none', '?id=0x12')
  for (const path of statusPaths) {
    await quoteApi.ask({ name: `${path} of nobody`, path: `${path}?requestId=0x${'34'.repeat(32)}` })
    await quoteApi.ask({ name: `${path} of no id`, path: `${path}?requestId=0x34` })
    await quoteApi.ask({ name: `${path} of nothing`, path })
  }
}

/** The signature of a permit, given wrongly and rightly. */
async function recordPermit({ quoteApi, user }: QuoteStage, { requestId, answer }: Quoted): Promise<void> {
  const { domain, types, primaryType, value } = permitSchema.parse(answer.body).steps[0].items[0].data.sign
  const typedData = {
    domain: { ...domain, verifyingContract: hexOf(domain.verifyingContract) },
    types,
    primaryType,
  }
  const sign = (by: number) =>
    privateKeyToAccount(user(by).privateKey).signTypedData({ ...typedData, message: value })
  const [wrong, right] = [await sign(1), await sign(0)]
  quoteApi.name(wrong, 'signature of another user')
  quoteApi.name(right, 'signature of the user')
  const hand = (name: string, signature: string, kind = 'eip3009') =>
    quoteApi.ask({ name, path: `/execute/permits?signature=${signature}`, body: { kind, requestId } })
  await hand('permit signed by another user', wrong)
  await hand('permit of another kind', right, 'eip2612')
  await hand('permit of no kind', right, 'nothing')
  await hand('permit', right)
  await hand('permit once more', right)
  await quoteApi.ask({
    name: 'permit without signature',
    path: '/execute/permits',
    body: { kind: 'eip3009', requestId },
  })
  await quoteApi.ask({
    name: 'permit of no request',
    path: `/execute/permits?signature=${right}`,
    body: { kind: 'eip3009', requestId: `0x${'ab'.repeat(32)}` },
  })
  const account = `0x${'22'.repeat(20)}`
  const mapping = { wallet: account, depositor: account, nonce: 1, id: `0x${'ab'.repeat(32)}` }
  const authorize = (name: string, type: string) =>
    quoteApi.ask({
      name,
      path: `/authorize?signature=${right}`,
      body: { type, walletChainId: 8453, signatureChainId: 8453, ...mapping },
    })
  await authorize('authorization of a transfer that names its order', 'nonce-mapping')
  await authorize('authorization of another kind', 'nothing')
}
