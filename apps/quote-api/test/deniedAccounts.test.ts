// Goal: who is on the operator's list gets nothing and is given nothing back by itself, whenever he was added, and
// whoever he names as depositor; nobody else is held up by it; and an operator lets go on or gives back what waits.
// Attacks: a stranger on the list pays somebody else's order; a name is added after the quote, after the deposit,
// after the work was fetched. Method: the service with its jobs, PostgreSQL, anvil, a scripted solver, a list in a file.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hex, Secret } from '@causeway/core'
import { accrueAppFees, finalizeTopUp, openTopUpCursor, recordTopUp, verifyLedger } from '@causeway/ledger'
import { depositoryAbi, type LocalAccount } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parsePeppers } from '../src/access/keys/peppers.ts'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { createAdministration } from '../src/operate/administration.ts'
import { startTestService } from './fixtures/service.ts'
import { readClaimStep } from './serviceSupport/appFeeClaim.ts'
import {
  post,
  postPatiently,
  type QuoteAnswer,
  readError,
  readOk,
  send,
} from './serviceSupport/callService.ts'
import { localRequest, userOf } from './serviceSupport/localRequest.ts'
import { postSignature } from './serviceSupport/signatureStep.ts'
import { bytesOf, type RequestDriver } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, pepperText, type TestSponsor } from './sponsorSupport/sponsors.ts'

const amount = 60_000_000n
const deed = { actor: 'cli:operator', reason: 'asked the counsel' }
/** So that one name more or less is no shrinking list. */
const others = Array.from({ length: 50 }, (_, index): Hex => `0x${String(index + 10).repeat(20)}`)
const [custody = zeroAddress, token = zeroAddress] = others
let directory: string
let listFile: string
let bed: SettlementBed
let requests: RequestDriver
let oracles: StandInOracles
let sponsor: TestSponsor
let administration: ReturnType<typeof createAdministration>['requests']

const writeList = (denied: readonly string[]) =>
  writeFile(listFile, JSON.stringify({ version: 1, denied: { 'ethereum-vm': [...others, ...denied] } }))

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-denied-'))
  listFile = join(directory, 'deny.json')
  await writeList([])
  oracles = await startStandInOracles()
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    environment: async () => ({ DENY_LIST_FILE: listFile, DENY_LIST_REFRESH_SECONDS: '1' }),
  })
  requests = bed.requests
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
  administration = createAdministration({
    config: { environment: 'local', configDirectory: 'configs', webhooks: { allowPrivate: false } },
    database: bed.database,
    peppers: parsePeppers(new Secret(pepperText)),
  }).requests
}, 120_000)
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
  await rm(directory, { recursive: true, force: true })
})

// CAST: the wire describes a request id as text.
const idOf = (quote: QuoteAnswer) => quote.requestId as Hex
// CAST: letters of another case are hex too.
const lower = (address: Hex) => address.toLowerCase() as Hex
const fresh = () => privateKeyToAddress(generatePrivateKey())

const isRefused = async (account: string) =>
  (await post(`${bed.url}/price`, localRequest(bed.network, { amount, more: { recipient: account } })))
    .status === 400

/** Denies these accounts, and a fresh marker account; resolves once the list is in force. */
async function deny(...accounts: readonly string[]): Promise<void> {
  const marker = fresh()
  await writeList([...accounts, marker])
  await expect.poll(() => isRefused(marker)).toBe(true)
}

async function quoted(more: object = {}): Promise<QuoteAnswer> {
  return requests.quoted(sponsor, { amount, more })
}

const parkedOf = async (quote: QuoteAnswer) =>
  (await administration.parked({ limit: 1_000 })).find(({ requestId }) => requestId === quote.requestId)
    ?.reason

const waitsForOperator = (quote: QuoteAnswer) => expect.poll(() => parkedOf(quote)).toBe('BLOCKED_WALLET')

const workOf = async (quote: QuoteAnswer) =>
  (await bed.solver.work()).filter(({ requestId }) => requestId === quote.requestId).map(({ kind }) => kind)

/** Several passes of every job: what would happen by itself has happened. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 1_500))

/** By `payer`, in the name of `depositor`. */
async function depositAs(payer: LocalAccount, depositor: Hex, quote: QuoteAnswer): Promise<void> {
  const { depository, tokens } = bed.network.deployment.base
  // CAST: the wire describes an order id as text.
  const id = quote.protocol?.v2.orderId as Hex
  await bed.network.chains.base.chain.send(payer, [
    {
      what: 'approve',
      to: tokens.USDC,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [depository, amount] }),
    },
    {
      what: 'deposit',
      to: depository,
      data: encodeFunctionData({
        abi: depositoryAbi,
        functionName: 'depositErc20',
        args: [depositor, tokens.USDC, amount, id],
      }),
    },
  ])
}

describe('added after the quote and before the deposit', () => {
  test('O-181: the deposit waits for an operator: not filled, not given back; let pass, it is filled', async () => {
    const recipient = fresh()
    const quote = await quoted({ recipient })
    await deny(recipient)
    await requests.execute(quote)
    await waitsForOperator(quote)
    await settled()
    expect(await workOf(quote)).toEqual([])
    expect(await requests.statusOf(quote)).toMatchObject({ status: 'pending', failReason: 'BLOCKED_WALLET' })
    expect(await administration.explain(idOf(quote))).toMatchObject({
      parked: { reason: 'BLOCKED_WALLET', resolutions: ['release', 'refund'] },
      deposits: [{ state: 'held', reason: 'BLOCKED_WALLET' }],
      work: [],
    })

    // Looked at again by the same list, it waits again.
    await administration.retry(idOf(quote), deed)
    await waitsForOperator(quote)
    await administration.resolve(idOf(quote), 'release', deed)
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
    const { actions } = await administration.explain(idOf(quote))
    expect(actions).toMatchObject([
      { actor: deed.actor, action: 'requests.retry', details: { parkedReason: 'BLOCKED_WALLET' } },
      {
        actor: deed.actor,
        action: 'requests.resolve',
        details: { parkedReason: 'BLOCKED_WALLET', resolution: 'release', reason: deed.reason },
      },
    ])
  })

  test('O-181: an operator gives it back, to where the order says', async () => {
    const recipient = fresh()
    const refundTo = fresh()
    const quote = await quoted({ recipient, refundTo })
    await deny(recipient)
    await requests.execute(quote)
    await waitsForOperator(quote)
    await administration.resolve(idOf(quote), 'refund', deed)
    const refund = await requests.workFor(quote, 'refund')
    expect(refund.payload).toMatchObject({ recipient: refundTo })
    await bed.solver.carryOut(refund)
    await bed.database.query(
      `update orders set expires_at = now() - interval '1 hour' where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await requests.reaches(quote, 'refund')
    expect(await requests.statusOf(quote)).toMatchObject({ failReason: 'BLOCKED_WALLET' })
  })

  test('whoever is refunded counts too, and a deposit that is too small is not given back by itself', async () => {
    const refundTo = fresh()
    const quote = await quoted({ refundTo })
    await deny(refundTo)
    await requests.deposit(quote, { amount: amount / 2n })
    await waitsForOperator(quote)
    await settled()
    expect(await workOf(quote)).toEqual([])
    await deny()
    await administration.retry(idOf(quote), deed)
    expect((await requests.workFor(quote, 'refund')).payload).toMatchObject({
      recipient: refundTo,
    })
  })
})

describe('a denied stranger who pays the order of somebody else', () => {
  test('O-179: holds nobody up, whomever he names as depositor, and gets nothing back by himself', async () => {
    const stranger = userOf(bed.network, 2)
    const quote = await quoted()
    await deny(stranger.address)
    await depositAs(stranger, requests.user.address, quote)
    await waitsForOperator(quote)
    const { deposits } = await administration.explain(idOf(quote))
    expect(deposits).toMatchObject([
      {
        state: 'held',
        depositor: requests.user.address.toLowerCase(),
        senders: [stranger.address.toLowerCase()],
      },
    ])
    await requests.execute(quote)
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
    await settled()
    expect(await workOf(quote)).toEqual([])
    expect(await parkedOf(quote)).toBe('BLOCKED_WALLET')
    await administration.resolve(idOf(quote), 'release', deed)
    await requests.workFor(quote, 'refund')
    expect(await parkedOf(quote)).toBeUndefined()
  })
})

describe('added after the deposit and before the fill', () => {
  test('O-180: the work is not offered any more, its report is refused, and the request waits', async () => {
    const recipient = fresh()
    const quote = await quoted({ recipient })
    await requests.execute(quote)
    const fill = await requests.workFor(quote, 'fill')
    await deny(recipient)
    // Fetched before, told after: nothing may be broadcast.
    const reported = await bed.solver.report(fill.id, `0x${'f1'.repeat(32)}`)
    expect([reported.status, readError(reported).errorCode]).toEqual([409, 'WORK_NOT_OPEN'])
    expect(await workOf(quote)).toEqual([])
    expect(await requests.settlementOf(quote)).toMatchObject({
      stage: 'parked',
      parked_reason: 'BLOCKED_WALLET',
    })
    expect(await administration.explain(idOf(quote))).toMatchObject({
      parked: { retryStage: 'filling', resolutions: ['release', 'refund'] },
      work: [{ kind: 'fill', state: 'open', isWithheld: true }],
    })
    await administration.resolve(idOf(quote), 'refund', deed)
    await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
    await requests.reaches(quote, 'refund')
  })

  test('O-182: a solver whose own list denies somebody stops it the same way', async () => {
    const quote = await quoted()
    await requests.execute(quote)
    const fill = await requests.workFor(quote, 'fill')
    expect((await bed.solver.fail(fill.id, 'BLOCKED_WALLET: of its own list')).status).toBe(200)
    expect(await parkedOf(quote)).toBe('BLOCKED_WALLET')
    expect(await workOf(quote)).toEqual([])
    await administration.retry(idOf(quote), deed)
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
  })

  test('of a refund that was asked for, too', async () => {
    const refundTo = fresh()
    const quote = await quoted({ refundTo })
    await requests.deposit(quote, { amount: amount / 2n })
    await requests.workFor(quote, 'refund')
    await deny(refundTo)
    expect(await workOf(quote)).toEqual([])
    expect(await administration.explain(idOf(quote))).toMatchObject({
      parked: { reason: 'BLOCKED_WALLET', retryStage: 'refunding', resolutions: ['release'] },
    })
    await administration.resolve(idOf(quote), 'release', deed)
    await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
  })
})

describe('a deposit address', () => {
  const pay = (address: string | undefined, payer: LocalAccount) =>
    bed.network.chains.base.chain.send(payer, [
      // CAST: addresses are text on the wire.
      { what: 'payment', to: address as Hex, data: '0x', valueWei: 10n ** 17n },
    ])
  const addressQuote = async (more: object) =>
    readOk(
      await postPatiently(
        `${bed.url}/quote`,
        localRequest(bed.network, {
          pay: 'native',
          receive: 'native',
          amount: 10n ** 17n,
          more: { useDepositAddress: true, recipient: fresh(), refundTo: fresh(), ...more },
        }),
      ),
      quoteResponseSchema,
    )

  test('O-179: paid by a denied account is not emptied, until an operator says so', async () => {
    const payer = userOf(bed.network, 2)
    await deny(payer.address)
    const quote = await addressQuote({})
    await pay(quote.steps[0]?.depositAddress, payer)
    await waitsForOperator(quote)
    await settled()
    expect(await workOf(quote)).toEqual([])
    await administration.resolve(idOf(quote), 'release', deed)
    await requests.workFor(quote, 'sweep')
  })

  test('of a denied recipient goes back to its depositor where an operator says so', async () => {
    const recipient = fresh()
    const quote = await addressQuote({ recipient })
    await deny(recipient)
    await pay(quote.steps[0]?.depositAddress, userOf(bed.network, 1))
    await waitsForOperator(quote)
    await administration.resolve(idOf(quote), 'refund', deed)
    expect((await requests.workFor(quote, 'sweep')).payload).toMatchObject({ goesBack: true })
  })
})

describe('what is executed or claimed by signature', () => {
  const refused = async (answer: ReturnType<typeof post>) => readError(await answer)
  const sanctioned = (field: string) => ({
    errorCode: 'SANCTIONED_WALLET_ADDRESS',
    errorData: JSON.stringify({ field }),
  })

  test('O-180: a permit and calls of an account that was added since the quote', async () => {
    const recipient = fresh()
    const permit = await quoted({ recipient, usePermit: true })
    const calls = await quoted({ recipient, originGasOverhead: 300_000 })
    await deny(recipient)
    const signature = `0x${'11'.repeat(65)}` as const
    const expected = sanctioned('requestId')
    expect(await refused(postSignature(bed.url, permit, { signature }))).toMatchObject(expected)
    const data = { chainId: 8_453, to: fresh(), data: '0x', value: 0 }
    const execution = { executionKind: 'rawCalls', data, requestId: calls.requestId }
    const headers = { 'x-api-key': sponsor.apiKey }
    expect(await refused(post(`${bed.url}/execute`, execution, headers))).toMatchObject(expected)
  })

  test('a claim of app fees, when it is asked for, when it is signed, and before it is paid', async () => {
    const wallet = privateKeyToAccount(generatePrivateKey())
    const { USDC } = bed.network.deployment.optimism.tokens
    const asset = { chainId: 10, address: USDC.toLowerCase(), symbol: 'USDC', name: 'USD Coin', decimals: 6 }
    await accrueAppFees(bed.database, {
      requestId: `0x${'a9'.repeat(32)}`,
      asset,
      fees: [{ recipient: lower(wallet.address), amount: 50_000_000n }],
    })
    const recipient = fresh()
    const claim = () =>
      postPatiently(`${bed.url}/app-fees/${wallet.address}/claim`, {
        chainId: 10,
        currency: USDC,
        recipient,
        amount: '20000000',
      })
    const { claimId, typedData } = readClaimStep(await claim())
    const signature = await wallet.signTypedData(typedData)
    const signed = () =>
      post(`${bed.url}/execute/permits?signature=${signature}`, { kind: 'claim', requestId: claimId })
    await deny(recipient)
    expect(await refused(claim())).toMatchObject(sanctioned('recipient'))
    expect(await refused(signed())).toMatchObject(sanctioned('requestId'))
    await deny(wallet.address)
    expect(await refused(claim())).toMatchObject(sanctioned('wallet'))
    await deny()
    expect((await signed()).status).toBe(200)
    const claims = async () => (await bed.solver.work()).filter(({ kind }) => kind === 'claim')
    expect(await claims()).toHaveLength(1)
    await deny(wallet.address)
    expect(await claims()).toEqual([])
  })

  test('a claim of money that named no balance, by whom it came from and for whom it is', async () => {
    const from = fresh()
    const transactionHash = `0x${'7c'.repeat(32)}` as const
    const account = { chainId: 8_453, custody, token }
    await bed.database.transaction(async (tx) => {
      await openTopUpCursor(tx, account, 0n)
      const { eventId = 0n } = await recordTopUp(
        tx,
        {
          ...account,
          transactionHash,
          blockNumber: 5n,
          blockHash: transactionHash,
          tail: undefined,
          log: { logIndex: 0, ordinal: 0, from: lower(from), value: 1_000n },
          verdict: { kind: 'suspense', parse: 'no_tail' },
        },
        { replace: false },
      )
      await finalizeTopUp(tx, eventId, {})
    })
    const wallet = fresh()
    const claim = () => post(`${bed.url}/app-balance/claims/challenge`, { transactionHash, wallet })
    await deny(wallet)
    expect(await refused(claim())).toMatchObject(sanctioned('wallet'))
    await deny(from)
    expect(await refused(claim())).toMatchObject(sanctioned('transactionHash'))
    await deny()
    expect((await claim()).status).toBe(200)
  })
})

test('metrics tell how many entries are in force, how old they are, and how many requests wait', async () => {
  const { text } = await send(`${bed.opsUrl}/metrics`)
  expect(text).toMatch(/^deny_list_entries(\{.*\})? 5[0-9]$/m)
  expect(Number(/^deny_list_age_seconds(?:\{.*\})? ([0-9.e-]+)$/m.exec(text)?.[1])).toBeLessThan(60)
  const listed = await administration.parked({ limit: 1_000 })
  const denied = listed.filter(({ reason }) => reason === 'BLOCKED_WALLET').length
  const shown = /^standing_requests\{.*reason="BLOCKED_WALLET".*\} (\d+)$/m.exec(text)?.[1]
  expect(Number(shown ?? 0)).toBe(denied)
  expect(text).not.toContain(listFile)
})

test('a service whose list cannot be read does not start', async () => {
  const starting = startTestService(bed.network, {
    DATABASE_URL: bed.connectionString,
    API_KEY_PEPPERS: pepperText,
    DENY_LIST_FILE: join(directory, 'nowhere.json'),
  })
  await expect(starting).rejects.toThrow('DENY_LIST_FILE: the file cannot be read (ENOENT)')
})

test('the books add up behind all of this', async () => {
  expect(await bed.database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))).toEqual([])
})
