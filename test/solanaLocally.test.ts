// Goal: `npm start` prices Solana like every other quoted chain, by the feed of SOL, and its file names accounts that
// own something there. Method: the session of `npm start` with quote-api alone.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { associatedTokenAccount, token2022Program, tokenProgram } from '@causeway/families/rules'
import {
  askNode,
  attachLocalNetwork,
  parseOperatorCommand,
  runOperatorCommand,
  type Session,
  servicePlans,
  waitUntil,
} from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { firstFamilyPort, startSessionIn } from './support/sessionBed.ts'

const solanaId = 792_703_809
const native = '1'.repeat(32)
const oneSol = 10n ** 9n

const fileSchema = z.object({
  quoteApi: z.object({ url: z.url() }),
  chains: z.array(
    z.object({
      id: z.number(),
      name: z.string(),
      rpcUrl: z.url(),
      depository: z.string(),
      // Those of Bitcoin are no USDC.
      tokens: z.object({ USDC: z.string().default(''), WETH: z.string().optional() }),
    }),
  ),
  accounts: z.array(z.object({ address: z.string() })),
  solanaAccounts: z.array(z.object({ address: z.string(), secretKey: z.string() })),
  solver: z.object({ address: z.string(), solanaAddress: z.string() }),
})
type NetworkFile = z.infer<typeof fileSchema>

let directory: string
let session: Session
let network: NetworkFile

async function start(): Promise<void> {
  session = await startSessionIn(directory, {
    firstFamilyPort,
    services: servicePlans.filter(({ name }) => name === 'quote-api'),
  })
  network = fileSchema.parse(JSON.parse(await readFile(join(directory, 'network.json'), 'utf8')))
}

beforeAll(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'causeway-solana-')), '.local')
  await start()
}, 240_000)
afterAll(async () => {
  await session?.stop()
  await rm(join(directory, '..'), { recursive: true, force: true })
}, 60_000)

const chain = (name: string) => {
  const found = network.chains.find((one) => one.name === name)
  if (found === undefined) throw new Error(`${name} is not among the chains`)
  return found
}
const solanaUser = () => network.solanaAccounts[0]?.address ?? ''
const evmUser = () => network.accounts[0]?.address ?? ''

const priceSchema = z.object({
  details: z.object({ currencyOut: z.object({ amount: z.string() }) }),
})

async function ask(body: object): Promise<{ status: number; text: string }> {
  const response = await fetch(`${network.quoteApi.url}/price`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tradeType: 'EXACT_INPUT', ...body }),
  })
  return { status: response.status, text: await response.text() }
}

/** Output amount of a price, in smallest units. */
async function outOf(body: object): Promise<bigint> {
  const { status, text } = await ask(body)
  expect(status, text).toBe(200)
  return BigInt(priceSchema.parse(JSON.parse(text)).details.currencyOut.amount)
}

const accountsSchema = z.object({
  value: z.array(
    z
      .object({ lamports: z.number(), data: z.tuple([z.string(), z.literal('base64')]) })
      .transform(({ lamports, data }) => ({ lamports, data: Buffer.from(data[0], 'base64') }))
      .nullable(),
  ),
})

async function accountsOf(addresses: readonly string[]) {
  const options = { encoding: 'base64', commitment: 'confirmed' }
  const answer = await askNode(chain('solana').rpcUrl, 'getMultipleAccounts', [addresses, options])
  return accountsSchema.parse(answer).value
}

const toSolana = (destinationCurrency: string, amount: bigint) => ({
  user: evmUser(),
  recipient: solanaUser(),
  originChainId: 8453,
  destinationChainId: solanaId,
  originCurrency: chain('base').tokens.USDC,
  destinationCurrency,
  amount: amount.toString(),
})
const fromSolana = (originCurrency: string, amount: bigint) => ({
  user: solanaUser(),
  recipient: evmUser(),
  originChainId: solanaId,
  destinationChainId: 8453,
  originCurrency,
  destinationCurrency: chain('base').tokens.USDC,
  amount: amount.toString(),
})

test('USDC of Base is worth about as much USDC on Solana, and back', async () => {
  const { USDC } = chain('solana').tokens
  for (const body of [toSolana(USDC, 100_000_000n), fromSolana(USDC, 100_000_000n)]) {
    const out = await outOf(body)
    expect(out).toBeGreaterThan(99_000_000n)
    expect(out).toBeLessThan(100_000_000n)
  }
})

test('a token of Token-2022 with nine decimals has the price of ETH', async () => {
  const { WETH } = chain('solana').tokens
  const out = await outOf(fromSolana(WETH ?? '', oneSol / 10n))
  expect(Number(out) / 1e6).toBeCloseTo(250, -1)
  expect(Number(await outOf(toSolana(WETH ?? '', 250_000_000n))) / 1e9).toBeCloseTo(0.1, 2)
})

test('SOL has the price of its feed, and follows it when it is moved', async () => {
  const usdOfOneSol = async () => Number(await outOf(fromSolana(native, oneSol))) / 1e6
  expect(await usdOfOneSol()).toBeGreaterThan(148)
  expect(await usdOfOneSol()).toBeLessThan(150)
  const command = parseOperatorCommand('prices set SOL/USD 153'.split(' '))
  await runOperatorCommand(await attachLocalNetwork(directory), command)
  await waitUntil('SOL is worth more', async () => (await usdOfOneSol()) > 151)
  expect(await usdOfOneSol()).toBeLessThan(153)
})

test('the chain names its solver, whose account is funded like those of users', async () => {
  const answer: unknown = await (await fetch(`${network.quoteApi.url}/chains`)).json()
  const { chains } = z
    .object({ chains: z.array(z.object({ id: z.number(), solverAddresses: z.array(z.string()) })) })
    .parse(answer)
  expect(chains.find(({ id }) => id === solanaId)?.solverAddresses).toEqual([network.solver.solanaAddress])
  const { USDC, WETH = '' } = chain('solana').tokens
  for (const owner of [network.solver.solanaAddress, ...network.solanaAccounts.map((one) => one.address)]) {
    const accounts = [
      owner,
      associatedTokenAccount(owner, { mint: USDC, tokenProgram }),
      associatedTokenAccount(owner, { mint: WETH, tokenProgram: token2022Program }),
    ]
    const [coins, ...tokens] = await accountsOf(accounts)
    expect(coins?.lamports).toBeGreaterThanOrEqual(1e12)
    for (const token of tokens) expect(token?.data.readBigUInt64LE(64)).toBeGreaterThan(0n)
  }
})

test('a second start has the same accounts, and slots above those of the first', async () => {
  const before = network
  const slotNow = async () => z.number().parse(await askNode(chain('solana').rpcUrl, 'getSlot', []))
  const slot = await slotNow()
  await session.stop()
  await start()
  expect(network.solanaAccounts).toEqual(before.solanaAccounts)
  expect(network.solver).toEqual(before.solver)
  expect(await slotNow()).toBeGreaterThan(slot)
  expect(await outOf(toSolana(native, 100_000_000n))).toBeGreaterThan(oneSol / 2n)
}, 240_000)

test('falls silent and is refused as a retryable 503, while other chains are priced', async () => {
  await runOperatorCommand(await attachLocalNetwork(directory), parseOperatorCommand(['silence', 'solana']))
  await waitUntil(
    'nothing is priced there',
    async () => (await ask(toSolana(native, 100_000_000n))).status !== 200,
  )
  expect((await ask(toSolana(native, 100_000_000n))).status).toBe(503)
  const { USDC } = chain('optimism').tokens
  const onEvm = { recipient: evmUser(), destinationChainId: 10, destinationCurrency: USDC }
  expect(await outOf({ ...toSolana(USDC, 100_000_000n), ...onEvm })).toBeGreaterThan(99_000_000n)
}, 60_000)
