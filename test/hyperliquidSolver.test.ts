// Goal: the shipped solver beside the shipped service: what is quoted to Hyperliquid arrives there, what is deposited there is
// filled, and what nobody ordered goes back, each told to the service by the hash that the exchange gave it. Who gains by
// breaking it: a user whose fill the service never finds, since its hash is known only afterwards. Method: both services,
// PostgreSQL, stand-in oracles with the keys that the hub's contracts know, those contracts, a Hyperliquid of stand-ins.
import { type SpawnedService, spawnSolver } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quoteResponseSchema } from '../apps/quote-api/src/http/wire/quoteResponse.ts'
import { postPatiently, type QuoteAnswer, readOk } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, userOf } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { bytesOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { solverKey } from '../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { type SolverBench, startSolverBench } from '../apps/solver/test/support/solverBench.ts'
import { type FamilySettling, startFamilySettling } from './support/familySettling.ts'
import {
  authorize,
  depositOnHyperliquid,
  fundedHyperliquidUser,
  type HyperliquidChain,
  hyperliquidChainId,
  perps,
  spotDollars,
  startHyperliquidChain,
  transferOnHyperliquid,
  solverKey as walletKey,
} from './support/hyperliquidSettling.ts'

let at: Omit<HyperliquidChain, 'stop'> & FamilySettling
let bench: SolverBench
let solver: SpawnedService | undefined

beforeAll(async () => {
  at = await startFamilySettling((network) => startHyperliquidChain(network, true))
  bench = await startSolverBench(at.network)
  const policy = {
    maxFeePerGasWei: '200000000',
    gasPerHourWei: '100000000000',
    relayGasPerHourWei: '0',
    floors: [{ currency: perps, amount: '100000000' }],
  }
  await at.configs.edit('solver.local.json', (file) => {
    const { chains, ...rest } = Object(file)
    return { ...rest, chains: { ...chains, hyperliquid: policy } }
  })
  const { environment } = await bench.settings(
    { url: at.url, apiKey: solverKey },
    {
      CONFIG_DIR: at.configs.directory,
      HYPERLIQUID_PRIVATE_KEY: walletKey,
      ORACLES: at.oracles.setting,
      HYPERLIQUID_RPC_URL: at.variables['HYPERLIQUID_RPC_URL'] ?? '',
      ORACLES_THRESHOLD: '2',
      HUB_ECDSA_PRIVATE_KEY: at.network.keys.keeper.privateKey,
    },
  )
  solver = spawnSolver(environment)
  await solver.ready()
}, 240_000)
afterAll(async () => {
  solver?.kill('SIGKILL')
  await solver?.ended
  await bench?.stop()
  await at?.stop()
})

const quoteOf = async (body: object): Promise<QuoteAnswer> =>
  readOk(await postPatiently(`${at.url}/quote`, body), quoteResponseSchema)

const onBase = () => ({
  user: at.requests.user.address,
  originChainId: 8453,
  tradeType: 'EXACT_INPUT',
  originCurrency: currencyAddress(at.network, 'base', 'USDC'),
  amount: '100000000',
})

const stranger = `0x${'be'.repeat(20)}`

test.each<[string, string, () => string]>([
  ['perps dollars', perps, () => fundedHyperliquidUser(at).account],
  ['spot dollars', spotDollars, () => fundedHyperliquidUser(at).account],
  ['perps dollars for somebody who was never there', perps, () => stranger],
])(
  '%s are paid as they were quoted, and known by the hash of the exchange',
  async (_what, currency, whom) => {
    const recipient = whom()
    const part = currency === perps ? '' : currency
    const before = at.venue.balanceOf(recipient, part)
    const quote = await quoteOf({
      ...onBase(),
      recipient,
      destinationChainId: hyperliquidChainId,
      destinationCurrency: currency,
    })
    await at.requests.execute(quote)
    await at.requests.reaches(quote, 'success')
    expect(at.venue.balanceOf(recipient, part) - before).toBe(BigInt(quote.details.currencyOut.amount ?? 0))
    const { txHashes } = await at.requests.statusOf(quote)
    const listed = at.ledger.transactions.findLast(
      ({ action }) => 'destination' in action && action.destination.toLowerCase() === recipient.toLowerCase(),
    )
    expect(txHashes).toEqual([listed?.hash])
  },
)

const fromHyperliquid = (user: string) => ({
  user,
  recipient: userOf(at.network, 1).address,
  originChainId: hyperliquidChainId,
  refundTo: user,
  originCurrency: perps,
  amount: '10000000000',
  tradeType: 'EXACT_INPUT',
  destinationChainId: 10,
  destinationCurrency: currencyAddress(at.network, 'optimism', 'USDC'),
})

test('what is deposited on Hyperliquid is filled on Optimism', async () => {
  const user = fundedHyperliquidUser(at)
  const quote = await quoteOf(fromHyperliquid(user.account))
  await depositOnHyperliquid(at, at.url, quote, user)
  await at.requests.reaches(quote, 'success')
})

test('what was not ordered goes back to where it came from', async () => {
  const user = fundedHyperliquidUser(at)
  const quote = await quoteOf(fromHyperliquid(user.account))
  expect((await authorize(at.url, quote, user)).status).toBe(200)
  const step = Object(quote.steps[1]?.items[0]?.data)
  const spot = {
    ...step.action.parameters,
    sourceDex: 'spot',
    destinationDex: 'spot',
    amount: '100.00000000',
  }
  const data = { ...step, action: { ...step.action, parameters: spot } }
  const before = at.venue.balanceOf(user.account, spotDollars)
  await transferOnHyperliquid(at, { steps: [{ items: [{ data }] }] }, user)
  await at.requests.workBegins(quote, 'refund')
  // Until its quote expires, another deposit may still come.
  await at.database.query(
    `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
    [bytesOf(quote.requestId)],
  )
  await at.requests.reaches(quote, 'refund')
  expect(at.venue.balanceOf(user.account, spotDollars)).toBe(before)
})
