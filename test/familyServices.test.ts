// Goal: what an integrator has beside a quote is there for every family, from it and to it: a sponsor pays what was quoted
// and nothing else, app fees come to whom they are owed on the chain that they were paid on, and status, history, timeline
// and messages tell the same request with ids as its chains spell them. Who gains by breaking it: a sponsor's user who is
// charged twice or not at all, a wallet that claims on a chain where nobody can prove the payout, a solver that is paid for
// a claim it did not pay. Method: the service with its jobs, its solver and two oracles in processes of their own,
// PostgreSQL, and a chain of each family; nobody pays by hand.
import type { Hex } from '@causeway/core'
import { tronHexAddress } from '@causeway/core/encodings'
import { solanaLibrary } from '@causeway/families/rules'
import { type SpawnedService, waitUntil } from '@causeway/localnet'
import { keyOf } from '@causeway/localnet/standIns/bitcoin'
import { createTokenAccount, depositNative, tokenAccount } from '@causeway/localnet/standIns/solana'
import { erc20Abi, parseUnits } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../apps/quote-api/src/http/wire/quoteResponse.ts'
import { readClaimStep } from '../apps/quote-api/test/serviceSupport/appFeeClaim.ts'
import {
  post,
  postPatiently,
  type QuoteAnswer,
  readError,
  readOk,
  send,
} from '../apps/quote-api/test/serviceSupport/callService.ts'
import { bytesOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { createSponsor, moneyOf, type TestSponsor } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { messageOf, type Receiver, startReceiver } from '../apps/quote-api/test/webhookSupport/receiver.ts'
import { setWebhook } from '../apps/quote-api/test/webhookSupport/setWebhook.ts'
import { accrueAppFees, verifyLedger } from '../packages/ledger/src/index.ts'
import { heldOnBitcoin } from './support/bitcoinSettling.ts'
import { type Family, families, type Payee, requestOf, type Sides, sidesOf } from './support/familySides.ts'
import { type FamilySolving, startFamilySolving } from './support/familySolver.ts'
import { fundedHyperliquidUser } from './support/hyperliquidSettling.ts'
import { tronUserOf } from './support/tronSettling.ts'

const longTest = 300_000
const patient = { patienceMs: 120_000, pollMs: 200 }
const dollars = 1_000_000n
let bed: FamilySolving
let at: FamilySolving['six']
let sides: Sides
let solver: SpawnedService
let receiver: Receiver

beforeAll(async () => {
  bed = await startFamilySolving()
  at = bed.six
  sides = sidesOf(at)
  solver = bed.startSolver()
  receiver = await startReceiver()
  await solver.ready()
}, 240_000)
afterAll(async () => {
  await bed?.stop()
  await receiver?.stop()
})

type Life = {
  readonly quote: QuoteAnswer
  readonly sponsor: TestSponsor
  /** Recipient of the app fee. */
  readonly app: PrivateKeyAccount
}

/** Sponsored, with an app fee of a tenth, until it is settled. */
async function live(from: Family, to: Family): Promise<Life> {
  const sponsor = await createSponsor(at.database, 1_000n * dollars)
  await setWebhook(at.database, sponsor, receiver.url)
  const app = privateKeyToAccount(generatePrivateKey())
  const { body, deposit, held } = await requestOf(sides, [from, to])
  const asked = {
    ...body,
    subsidizeFees: true,
    subsidizeRent: true,
    appFees: [{ recipient: app.address, fee: '1000' }],
  }
  const headers = { 'x-api-key': sponsor.apiKey }
  const quote = readOk(await postPatiently(`${at.url}/quote`, asked, headers), quoteResponseSchema)
  await deposit(quote)
  await waitUntil(
    `${from} to ${to} is settled`,
    async () => (await at.requests.stageOf(quote)) === 'settled',
    {
      ...patient,
      circumstances: async () =>
        [JSON.stringify(await at.requests.statusOf(quote)), solver.output().slice(-3_000)].join('\n'),
    },
  )
  expect(await held()).toBe(BigInt(quote.details.currencyOut.amount ?? 0))
  return { quote, sponsor, app }
}

/** The sponsor lost what the quote was stored with; nothing is held any more. */
async function isSponsored({ quote, sponsor }: Life): Promise<void> {
  const [row] = await at.database.query<{ debit: bigint }>(
    'select debit_micro_usd as debit from request_sponsorship where request_id = $1',
    [bytesOf(quote.requestId)],
  )
  const { available, held } = await moneyOf(at.database, sponsor.wallet)
  expect(held).toBe(0n)
  expect(row?.debit).toBeGreaterThan(0n)
  expect(1_000n * dollars - available).toBe(row?.debit)
}

/** Checks that every caller finds the request: ids are spelled as the chains of both families spell them. */
async function isTold({ quote, sponsor }: Life): Promise<void> {
  const headers = { 'x-api-key': sponsor.apiKey }
  const status = await at.requests.statusOf(quote)
  expect(status).toMatchObject({ status: 'success' })
  const [inHash, hash] = [status.inTxHashes?.[0], status.txHashes?.[0]]
  expect([inHash, hash]).not.toContain(undefined)
  const history = JSON.parse((await send(`${at.url}/requests/v3?id=${quote.requestId}`, { headers })).text)
  expect(history.requests).toMatchObject([{ id: quote.requestId, status: 'success' }])
  const told = JSON.stringify(history.requests)
  expect([told.includes(String(inHash)), told.includes(String(hash))]).toEqual([true, true])
  const timeline = (await send(`${at.url}/requests/${quote.requestId}/timeline`, { headers })).text
  expect([timeline.includes(String(inHash)), timeline.includes(String(hash))]).toEqual([true, true])
  const messages = () =>
    receiver.received.map(messageOf).filter(({ data }) => data.requestId === quote.requestId)
  await waitUntil(
    'its success was told',
    () => messages().some(({ data }) => data.status === 'success'),
    patient,
  )
  expect(messages().find(({ data }) => data.status === 'success')?.data).toMatchObject({
    inTxHashes: [inHash],
    txHashes: [hash],
  })
}

/** Somebody on each chain who has an account for what orders from it are paid in. */
const claimants: Readonly<Record<Family, () => Promise<Payee> | Payee>> = {
  EVM: () => {
    const recipient = privateKeyToAccount(generatePrivateKey()).address
    const { client } = at.chains.network.chains.base.chain
    // CAST: it is the address of a token of an EVM chain.
    const address = sides.EVM.origin().currency as Hex
    const args = [recipient] as const
    return {
      recipient,
      held: () => client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args }),
    }
  },
  async Solana() {
    const { bed: solana } = at.chains.solana
    const owner = solanaLibrary().Keypair.generate().publicKey
    const { mint, user } = solana
    await solana.send([createTokenAccount({ payer: user.publicKey, owner, mint })])
    const account = tokenAccount(owner, mint).toBase58()
    const held = async () =>
      Buffer.from(solana.node.account(account, 'processed')?.data ?? new Uint8Array(72)).readBigUInt64LE(64)
    return { recipient: owner.toBase58(), held }
  },
  Bitcoin: () => {
    const { address: recipient, script } = keyOf('who claims an app fee').witness
    return { recipient, held: async () => heldOnBitcoin(at.chains.btc, script) }
  },
  Tron: () => {
    const { address: recipient } = tronUserOf(generatePrivateKey())
    const { client } = at.chains.tron.evm.network.chains.base.chain
    return { recipient, held: () => client.getBalance({ address: tronHexAddress(recipient) }) }
  },
  Lighter: () => sides.Lighter.payee(),
  Hyperliquid: () => {
    const { account: recipient } = fundedHyperliquidUser(at.chains.hyperliquid)
    return { recipient, held: async () => at.chains.hyperliquid.venue.balanceOf(recipient, '') }
  },
}

async function isClaimed(from: Family, { quote, app }: Life): Promise<void> {
  const [claimable] = JSON.parse((await send(`${at.url}/app-fees/${app.address}/claimable`)).text).balances
  const owed = BigInt(claimable.amount)
  expect(owed).toBe(BigInt(quote.details.currencyIn.amount ?? 0) / 10n)
  const { chainId, currency } = sides[from].origin()
  const { recipient, held } = await claimants[from]()
  const before = await held()
  const asked = { chainId, currency, recipient }
  const { claimId, typedData } = readClaimStep(
    await postPatiently(`${at.url}/app-fees/${app.address}/claim`, asked),
  )
  const signature = await app.signTypedData(typedData)
  const submitted = { kind: 'claim', requestId: claimId }
  for (let turn = 0; turn < 2; turn += 1)
    expect((await post(`${at.url}/execute/permits?signature=${signature}`, submitted)).status).toBe(200)
  await waitUntil(
    `the claim on ${from} is paid`,
    async () => (await send(`${at.url}/app-fees/${app.address}/claims`)).text.includes('"paid"'),
    { ...patient, circumstances: () => solver.output().slice(-3_000) },
  )
  // An account that the payment makes is paid for out of it.
  const [pays = ''] = String(typedData.message['pays']).split(' ')
  expect((await held()) - before).toBe(parseUnits(pays, quote.details.currencyIn.currency?.decimals ?? 0))
  expect(JSON.parse((await send(`${at.url}/app-fees/${app.address}/claimable`)).text).balances).toEqual([])
}

describe.each(families)('from %s', (from) => {
  test('a request is sponsored, told, and its app fee is claimed on the same chain', {
    timeout: longTest,
  }, async () => {
    const life = await live(from, 'EVM')
    await isSponsored(life)
    await isTold(life)
    await isClaimed(from, life)
  })
})

describe.each(families.filter((family) => family !== 'EVM'))('to %s', (to) => {
  test('a request is sponsored and told', { timeout: longTest }, async () => {
    const life = await live('EVM', to)
    await isSponsored(life)
    await isTold(life)
  })
})

test('L-80: a claim on Hyperliquid for somebody who has no account there is refused, and never waits for ever', async () => {
  const { chainId, currency } = sides.Hyperliquid.origin()
  const app = privateKeyToAccount(generatePrivateKey())
  await at.database.transaction((tx) =>
    accrueAppFees(tx, {
      requestId: generatePrivateKey(),
      asset: { chainId, address: currency, symbol: 'USDC', name: 'USD Coin', decimals: 8 },
      fees: [{ recipient: app.address.toLowerCase(), amount: 2_000_000_000n }],
    }),
  )
  const { recipient } = sides.Hyperliquid.payee()
  const answer = await post(`${at.url}/app-fees/${app.address}/claim`, { chainId, currency, recipient })
  expect([answer.status, readError(answer).errorCode]).toEqual([400, 'INVALID_RECIPIENT'])
})

test('F-6: an oracle does not ask again at once for what it could not read, and signs it once it can', async () => {
  const { node, depository, user, send: sendOnSolana } = at.chains.solana.bed
  node.showAs('next', 127)
  const transactionId = await sendOnSolana([
    depositNative(depository, { sender: user.publicKey, amount: 1_000n, id: `0x${'00'.repeat(32)}` }),
  ])
  const [url, key = ''] = (bed.settings.environment['ORACLES'] ?? '').split(';')[0]?.split('|') ?? []
  const attest = async () => {
    const body = { chainId: 'solana', transactionId }
    const answer = await post(`${url}/attestations/depository-deposits/v1`, body, { 'x-api-key': key })
    return [answer.status, JSON.parse(answer.text).errorCode]
  }
  const refusal = [400, 'TRANSACTION_UNREADABLE']
  expect(await attest()).toEqual(refusal)
  node.showAs(transactionId, 0)
  expect(await attest()).toEqual(refusal)
  await waitUntil('it is signed', async () => (await attest())[0] === 200, patient)
})

test('the books add up behind all of them', async () => {
  expect(await verifyLedger(at.database)).toEqual([])
})
