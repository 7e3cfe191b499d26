// Goal: app fees come to whom they are owed by the wallet's signature alone: once, in full, or not at all. Method:
// the service with its jobs, PostgreSQL and anvil; fees are accrued by the ledger, a scripted solver pays.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatAmount, type Hex } from '@causeway/core'
import { createDatabase, type Database, type EmbeddedPostgres, startTestPostgres } from '@causeway/database'
import {
  accrueAppFees,
  haltReservations,
  type LedgerAsset,
  openAppFeeClaim,
  verifyLedger,
} from '@causeway/ledger'
import {
  type FaultProxy,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
  waitUntil,
} from '@causeway/localnet'
import { erc20Abi, hexToBytes, parseEther, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  addressNamed,
  callNode,
  setOwnedDigest,
  walletCode,
} from '../../../packages/localnet/test/fixtures/contractWallets.ts'
import { startTestService, type TestService } from './fixtures/service.ts'
import { type ClaimTypedData, readClaimStep } from './serviceSupport/appFeeClaim.ts'
import { post, readError, readOk, send } from './serviceSupport/callService.ts'
import {
  createScriptedSolver,
  type OpenWork,
  type ScriptedSolver,
} from './settlementSupport/scriptedSolver.ts'
import { pepperText } from './sponsorSupport/sponsors.ts'

const solverKey = 'solver-key-of-the-tests'
let network: TestNetwork
let directory: string
let server: EmbeddedPostgres
let database: Database
let proxy: FaultProxy
let service: TestService
let solver: ScriptedSolver
let url: string

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-claims-'))
  server = await startTestPostgres({ dataDirectory: join(directory, 'postgres') })
  proxy = await startFaultProxy({ targetUrl: network.chains.optimism.url })
  service = await startTestService(network, {
    DATABASE_URL: server.connectionString,
    API_KEY_PEPPERS: pepperText,
    SOLVER_API_KEY: solverKey,
    OPTIMISM_RPC_URL: proxy.url,
  })
  url = (await service.listen()).publicUrl
  database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
  solver = createScriptedSolver({ network, url, apiKey: solverKey })
})
afterAll(async () => {
  await service?.stop()
  await proxy?.stop()
  await database?.close()
  await server?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

const usdc = (chain: 'base' | 'optimism' = 'base'): LedgerAsset => ({
  chainId: network.chains[chain].chainId,
  address: network.deployment[chain].tokens.USDC,
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
})
const ether = (): LedgerAsset => ({
  chainId: network.chains.base.chainId,
  address: zeroAddress,
  symbol: 'ETH',
  name: 'Ether',
  decimals: 18,
})
// CAST: lower-cased hex stays hex.
const lower = (address: Hex) => address.toLowerCase() as Hex

/** A wallet that is owed so much. */
async function owed(amount: bigint, asset: LedgerAsset = usdc()) {
  const account = privateKeyToAccount(generatePrivateKey())
  await accrue(account.address, amount, asset)
  return account
}
async function accrue(wallet: Hex, amount: bigint, asset: LedgerAsset): Promise<void> {
  const requestId = generatePrivateKey()
  const fees = [{ recipient: lower(wallet), amount }]
  await database.transaction((tx) => accrueAppFees(tx, { requestId, asset, fees }))
}
const freshAddress = () => privateKeyToAccount(generatePrivateKey()).address

type Ask = {
  readonly amount?: string
  readonly recipient?: Hex
  readonly chainId?: number
  readonly currency?: string
}
/** Uses 1.7 million gas. */
const burning: Hex = '0x61ffff5b600190038060035700'
const ask = (wallet: Hex, more: Ask = {}) =>
  post(`${url}/app-fees/${wallet}/claim`, {
    chainId: usdc().chainId,
    currency: usdc().address,
    recipient: wallet,
    ...more,
  })
type Prepared = { readonly claimId: Hex; readonly typedData: ClaimTypedData }
async function preparedWhole(wallet: Hex, more: Ask = {}): Promise<Prepared> {
  const claim = readClaimStep(await ask(wallet, more))
  typedDataOf.set(claim.claimId, claim.typedData)
  return claim
}
const prepared = async (wallet: Hex, more: Ask = {}) => (await preparedWhole(wallet, more)).claimId
/** Typed data shown to wallets, by claim: the service does not return it again. */
const typedDataOf = new Map<Hex, ClaimTypedData>()
type Signer = Pick<ReturnType<typeof privateKeyToAccount>, 'signTypedData'>
async function sign(signer: Signer, claimId: Hex, kind = 'claim') {
  const typedData = typedDataOf.get(claimId) ?? [...typedDataOf.values()][0]
  if (typedData === undefined) throw new Error('nothing was prepared')
  return submit(claimId, await signer.signTypedData(typedData), kind)
}
const submit = (claimId: Hex, signature: Hex, kind = 'claim') =>
  post(`${url}/execute/permits?signature=${signature}`, { kind, requestId: claimId, referrer: 'a.example' })

const claimsSchema = z.object({
  claims: z.array(
    z.object({
      claimId: z.string(),
      recipient: z.string(),
      status: z.string(),
      txHash: z.string().nullable(),
      currency: z.looseObject({ amount: z.string() }),
    }),
  ),
})
const claimsOf = async (wallet: Hex) =>
  readOk(await send(`${url}/app-fees/${wallet}/claims`), claimsSchema).claims
const claimableSchema = z.object({ balances: z.array(z.looseObject({ amount: z.string() })) })
const claimable = async (wallet: Hex) =>
  readOk(await send(`${url}/app-fees/${wallet}/claimable`), claimableSchema).balances.map(
    ({ amount }) => amount,
  )
async function workFor(claimId: Hex): Promise<OpenWork | undefined> {
  return (await solver.work()).find(
    ({ kind, payload }) => kind === 'claim' && 'claimId' in payload && payload.claimId === claimId,
  )
}
async function payoutOf(claimId: Hex): Promise<OpenWork> {
  const item = await workFor(claimId)
  if (item === undefined) throw new Error('there is no payout')
  return item
}
const reaches = (wallet: Hex, status: string) =>
  waitUntil(`the claim is ${status}`, async () => (await claimsOf(wallet))[0]?.status === status)
const tokenBalance = (holder: Hex) =>
  network.chains.base.chain.client.readContract({
    address: network.deployment.base.tokens.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })

describe('a claim', () => {
  test('is one step to sign, and is paid to the recipient once, as signed', async () => {
    const [app, recipient] = [await owed(5_000_000n), freshAddress()]
    const answer = await ask(app.address, { recipient, amount: '3000000' })
    const { claimId, typedData } = readClaimStep(answer)
    typedDataOf.set(claimId, typedData)
    expect(JSON.parse(answer.text)).toEqual({
      steps: [
        {
          id: 'authorize',
          action: expect.any(String),
          description: expect.any(String),
          kind: 'signature',
          requestId: expect.stringMatching(/^0x[0-9a-f]{64}$/),
          items: [
            {
              status: 'incomplete',
              data: {
                sign: {
                  signatureKind: 'eip712',
                  domain: { name: 'Causeway app fees', version: '1', chainId: usdc().chainId },
                  types: { AppFeeClaim: expect.any(Array) },
                  primaryType: 'AppFeeClaim',
                  value: {
                    service: expect.stringMatching(/^http:/),
                    wallet: lower(app.address),
                    recipient: lower(recipient),
                    pays: '3.0 USDC',
                    currency: usdc().address,
                    amount: '3000000',
                    nonce: expect.stringMatching(/^0x[0-9a-f]{64}$/),
                  },
                },
                post: {
                  endpoint: '/execute/permits',
                  method: 'POST',
                  body: { kind: 'claim', requestId: claimId },
                },
              },
            },
          ],
        },
      ],
    })
    const id = claimId
    expect(await claimable(app.address)).toEqual(['5000000'])
    expect((await sign(app, id)).status).toBe(200)
    expect(await claimable(app.address)).toEqual(['2000000'])
    expect(await claimsOf(app.address)).toMatchObject([{ claimId: id, status: 'pending', txHash: null }])

    const payout = await payoutOf(id)
    expect(payout.payload).toMatchObject({ wallet: app.address.toLowerCase() })
    const hash = await solver.carryOut(payout)
    await reaches(app.address, 'paid')
    expect(await tokenBalance(recipient)).toBe(3_000_000n)
    expect(await claimsOf(app.address)).toMatchObject([
      {
        claimId: id,
        status: 'paid',
        txHash: hash,
        recipient: lower(recipient),
        currency: { amount: '3000000' },
      },
    ])
    expect([(await sign(app, id)).status, (await sign(app, id, 'request')).status]).toEqual([200, 200])
    expect(await workFor(id)).toBeUndefined()
    expect(await claimable(app.address)).toEqual(['2000000'])
  })

  test('L-77: of native coin without an amount takes all that is owed', async () => {
    const [app, recipient] = [await owed(10n ** 16n, ether()), freshAddress()]
    await accrue(app.address, 7n, ether())
    const claimId = await prepared(app.address, { currency: zeroAddress, recipient })
    await sign(app, claimId)
    await solver.carryOut(await payoutOf(claimId))
    await reaches(app.address, 'paid')
    expect(await network.chains.base.chain.client.getBalance({ address: recipient })).toBe(10n ** 16n + 7n)
    expect(await claimable(app.address)).toEqual([])
  })

  test('that nobody but the wallet signed moves nothing', async () => {
    const [app, stranger] = [await owed(5_000_000n), privateKeyToAccount(generatePrivateKey())]
    const claimId = await prepared(app.address, { recipient: stranger.address })
    const byStranger = await sign(stranger, claimId)
    expect([byStranger.status, readError(byStranger).errorCode]).toEqual([400, 'INVALID_SIGNATURE'])
    const ofOther = await preparedWhole(app.address)
    const swapped = await submit(claimId, await app.signTypedData(ofOther.typedData))
    expect(readError(swapped).errorCode).toBe('INVALID_SIGNATURE')
    for (const junk of ['0x', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(1_500)}`] as const) {
      expect((await submit(claimId, junk)).status).toBe(400)
    }
    expect(await claimable(app.address)).toEqual(['5000000'])
    expect(await claimsOf(app.address)).toEqual([])
    const own = await ask(stranger.address)
    expect([own.status, readError(own).errorCode]).toEqual([400, 'INSUFFICIENT_APP_FEES'])
  })

  test('L-78: is no opaque hash that somebody could be talked into signing', async () => {
    const [app, thief] = [await owed(5_000_000n), freshAddress()]
    const { claimId, typedData } = await preparedWhole(app.address, { recipient: thief })
    // A phishing page could request a login signature over the id, as bytes or as text.
    for (const message of [{ raw: claimId }, claimId]) {
      const phished = await submit(claimId, await app.signMessage({ message }))
      expect([phished.status, readError(phished).errorCode]).toEqual([400, 'INVALID_SIGNATURE'])
    }
    for (const shown of [
      { recipient: app.address },
      { amount: '1' },
      { service: 'https://games.example' },
      { pays: '0.0 USDC' },
    ]) {
      const misled = await app.signTypedData({ ...typedData, message: { ...typedData.message, ...shown } })
      expect(readError(await submit(claimId, misled)).errorCode).toBe('INVALID_SIGNATURE')
    }
    const elsewhere = { ...typedData, domain: { ...typedData.domain, chainId: 1 } }
    expect(readError(await submit(claimId, await app.signTypedData(elsewhere))).errorCode).toBe(
      'INVALID_SIGNATURE',
    )
    expect(await claimable(app.address)).toEqual(['5000000'])
  })

  test('that is sent many times at once is taken by every one of them, once', async () => {
    for (let round = 0; round < 5; round++) {
      const app = await owed(5_000_000n)
      const { claimId, typedData } = await preparedWhole(app.address)
      const signature = await app.signTypedData(typedData)
      const answers = await Promise.all(Array.from({ length: 20 }, () => submit(claimId, signature)))
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      expect(await claimsOf(app.address)).toHaveLength(1)
      expect(await claimable(app.address)).toEqual([])
    }
  })

  test('that another request takes in the same moment is taken, not lost', async () => {
    const app = await owed(5_000_000n)
    const wallet = lower(app.address)
    const { claimId, typedData } = await preparedWhole(wallet)
    const signature = await app.signTypedData(typedData)
    const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%claim_offer%'`
    const late = await database.transaction(async (tx) => {
      await tx.query('lock table app_fee_claim_offer in access exclusive mode')
      const answer = submit(claimId, signature)
      await waitUntil('it waits for the offer', async () => (await database.query(waits)).length > 0)
      await openAppFeeClaim(tx, { claimId, wallet, recipient: wallet, asset: usdc(), amount: 5_000_000n })
      const id = Buffer.from(claimId.slice(2), 'hex')
      await tx.query('delete from app_fee_claim_offer where claim_id = $1', [id])
      return { answer }
    })
    expect((await late.answer).status).toBe(200)
    expect(await claimable(wallet)).toEqual([])
  })

  test('is taken once when two of them, or one twice, come at the same moment', async () => {
    const app = await owed(5_000_000n)
    const ids = [await prepared(app.address), await prepared(app.address)]
    const answers = await Promise.all([...ids, ...ids, ...ids].map((id) => sign(app, id)))
    const codes = answers.map((answer) => (answer.status === 200 ? 'taken' : readError(answer).errorCode))
    expect(codes.filter((code) => code === 'taken')).toHaveLength(3)
    expect(codes.filter((code) => code === 'INSUFFICIENT_APP_FEES')).toHaveLength(3)
    expect(await claimsOf(app.address)).toHaveLength(1)
    const items = (await solver.work()).filter(
      ({ kind, payload }) => kind === 'claim' && 'claimId' in payload && ids.includes(payload.claimId),
    )
    expect(items).toHaveLength(1)
  })

  test('L-78: of a contract wallet is signed as the contract says, on the chain of the fee', async () => {
    const [wallet, recipient] = [addressNamed(1), freshAddress()]
    await accrue(wallet, 5_000_000n, usdc())
    await callNode(network.chains.base.url, 'anvil_setCode', [wallet, walletCode.owned])
    const claimId = await prepared(wallet, { recipient })
    expect(readError(await submit(claimId, '0x1234')).errorCode).toBe('INVALID_SIGNATURE')
    await setOwnedDigest(network.chains.base.url, wallet, hexToBytes(claimId))
    expect((await submit(claimId, '0x1234')).status).toBe(200)
    await solver.carryOut(await payoutOf(claimId))
    await reaches(wallet, 'paid')
    expect(await tokenBalance(recipient)).toBe(5_000_000n)
  })

  test('Q-67: of a contract wallet is not refused for an error of its chain', async () => {
    const wallet = addressNamed(2)
    const asset = usdc('optimism')
    await accrue(wallet, 5_000_000n, asset)
    await callNode(network.chains.optimism.url, 'anvil_setCode', [wallet, walletCode.owned])
    const claimId = await prepared(wallet, {
      chainId: asset.chainId,
      currency: network.deployment.optimism.tokens.USDC,
      recipient: freshAddress(),
    })
    await setOwnedDigest(network.chains.optimism.url, wallet, hexToBytes(claimId))
    proxy.set({ kind: 'unsupported', methods: ['eth_call'], code: -32_000, message: 'missing trie node' })
    const unknown = await submit(claimId, '0x1234')
    proxy.set({ kind: 'pass' })
    expect([unknown.status, readError(unknown)]).toMatchObject([503, { retryable: true }])
    expect((await submit(claimId, '0x1234')).status).toBe(200)
  })
})

test('Q-68: a claim for a recipient whose code takes gas pays what that leaves, and is signed so', async () => {
  const [amount, recipient] = [10n ** 17n, freshAddress()]
  const [plain, dear] = [await owed(amount, ether()), await owed(amount, ether())]
  await callNode(network.chains.base.url, 'anvil_setCode', [recipient, burning])
  const asked = { currency: zeroAddress, recipient }
  expect(
    (await preparedWhole(plain.address, { ...asked, recipient: freshAddress() })).typedData.message,
  ).toMatchObject({
    amount: `${amount}`,
    pays: '0.1 ETH',
  })
  // The service asks at the newest block that it knows, which may still be the one before.
  await waitUntil('the code is seen', async () => {
    const { message } = (await preparedWhole(dear.address, asked)).typedData
    return message['pays'] !== '0.1 ETH'
  })
  const { claimId, typedData } = await preparedWhole(dear.address, asked)
  expect(typedData.message).toMatchObject({ amount: `${amount}` })
  const taken = amount - parseEther(String(typedData.message['pays']).replace(' ETH', ''))
  const low = await ask(dear.address, { ...asked, amount: `${taken / 2n}` })
  expect(readError(low)).toMatchObject({ errorCode: 'AMOUNT_TOO_LOW' })
  expect((await sign(dear, claimId)).status).toBe(200)
  expect(await claimable(dear.address)).toEqual([])
  const item = await payoutOf(claimId)
  const { amount: paid = '', gasCharged = '' } = Object(item.payload)
  const charged = amount - BigInt(paid)
  expect(typedData.message['pays']).toBe(`${formatAmount(BigInt(paid), 18)} ETH`)
  await solver.carryOut(item)
  await reaches(dear.address, 'paid')
  const { client } = network.chains.base.chain
  expect(await client.getBalance({ address: recipient })).toBe(BigInt(paid))
  // CAST: a hash of an EVM chain is hex.
  const hash = (await claimsOf(dear.address))[0]?.txHash as Hex
  const { gasUsed, effectiveGasPrice } = await client.getTransactionReceipt({ hash })
  const cost = gasUsed * effectiveGasPrice
  expect(2n * cost).toBeLessThanOrEqual(3n * BigInt(gasCharged))
  // A plain payout costs its wallet nothing, and takes less than a tenth of this one.
  expect(charged).toBeGreaterThan((cost * 8n) / 10n)
})

describe('a claim is refused', () => {
  test.each<[string, number, string, (() => Ask)?]>([
    ['above what is owed', 400, 'INSUFFICIENT_APP_FEES', () => ({ amount: '5000001' })],
    ['of nothing', 400, 'AMOUNT_TOO_LOW', () => ({ amount: '0' })],
    ['of dust', 400, 'AMOUNT_TOO_LOW', () => ({ amount: '1' })],
    [
      'in a currency that nothing is owed in',
      400,
      'INSUFFICIENT_APP_FEES',
      () => ({ currency: zeroAddress }),
    ],
    ['in no currency', 400, 'UNSUPPORTED_CURRENCY', () => ({ currency: `0x${'12'.repeat(20)}` })],
    ['on no chain', 400, 'UNSUPPORTED_CHAIN', () => ({ chainId: 999_999 })],
    [
      'to a mistyped recipient',
      400,
      'INVALID_ADDRESS',
      () => ({ recipient: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD' }),
    ],
    ['to nobody', 400, 'INVALID_RECIPIENT', () => ({ recipient: zeroAddress })],
    ['to the token', 400, 'INVALID_RECIPIENT', () => ({ recipient: network.deployment.base.tokens.USDC })],
    [
      'to the depository',
      400,
      'INVALID_RECIPIENT',
      () => ({ recipient: network.deployment.base.depository }),
    ],
    ['of half a unit', 400, 'INVALID_REQUEST', () => ({ amount: '1.5' })],
    ['of a huge number', 400, 'INVALID_REQUEST', () => ({ amount: '9'.repeat(78) })],
    ['of more than anybody has', 400, 'INSUFFICIENT_APP_FEES', () => ({ amount: `1${'0'.repeat(76)}` })],
  ])('%s', async (_what, status, code, change = () => ({})) => {
    const app = await owed(5_000_000n)
    const answer = await ask(app.address, change())
    expect([answer.status, readError(answer).errorCode]).toEqual([status, code])
    expect(await claimable(app.address)).toEqual(['5000000'])
  })

  test('that was never prepared, or waited too long for its signature', async () => {
    const app = await owed(5_000_000n)
    const unknown = await sign(app, `0x${'ab'.repeat(32)}`)
    expect([unknown.status, readError(unknown).errorCode]).toEqual([404, 'APP_FEE_CLAIM_NOT_FOUND'])
    const claimId = await prepared(app.address)
    await database.query('update app_fee_claim_offer set expires_at = now() where claim_id = $1', [
      Buffer.from(claimId.slice(2), 'hex'),
    ])
    const late = await sign(app, claimId)
    expect([late.status, readError(late).errorCode]).toEqual([404, 'APP_FEE_CLAIM_NOT_FOUND'])
    const next = await prepared(app.address)
    expect((await sign(app, next)).status).toBe(200)
    const left = await database.query('select 1 from app_fee_claim_offer where expires_at <= now()')
    expect(left).toEqual([])
  })

  test('with a broken body, or none', async () => {
    const headers = { 'content-type': 'application/json' }
    for (const body of ['', '{', '[]', '{"chainId":"8453"}', 'null']) {
      const answer = await send(`${url}/app-fees/${freshAddress()}/claim`, { method: 'POST', headers, body })
      expect([answer.status, readError(answer).statusCode]).toEqual([400, 400])
    }
    expect((await ask('0x12')).status).toBe(400)
    const without = await post(`${url}/execute/permits`, { kind: 'claim', requestId: `0x${'ab'.repeat(32)}` })
    expect(without.status).toBe(400)
    const unknown = await post(`${url}/execute/permits?signature=0x`, { kind: 'gift', requestId: '0x' })
    expect(unknown.status).toBe(400)
  })

  test('while the books do not add up', async () => {
    const app = await owed(5_000_000n)
    const claimId = await prepared(app.address)
    await database.transaction((tx) => haltReservations(tx, []))
    const refused = await sign(app, claimId)
    expect([refused.status, readError(refused).errorCode]).toEqual([503, 'SERVICE_UNAVAILABLE'])
    await database.query(
      `update ledger_halt set cleared_at = now(), cleared_by = 'test', reason = 'test' where cleared_at is null`,
    )
    expect((await sign(app, claimId)).status).toBe(200)
  })
})

describe('a payout', () => {
  async function signedClaim(amount = 5_000_000n, asset = usdc()) {
    const app = await owed(amount, asset)
    const { chainId, address: currency } = asset
    const claimId = await prepared(app.address, { chainId, currency })
    await sign(app, claimId)
    return { app, claimId, wallet: app.address }
  }

  test('that the solver gives up is claimable again', async () => {
    const { claimId, wallet } = await signedClaim()
    await database.query(`update work_item set attempts = 20 where subject = $1`, [claimId])
    expect((await solver.fail((await payoutOf(claimId)).id, 'no inventory')).status).toBe(200)
    await reaches(wallet, 'failed')
    expect(await claimable(wallet)).toEqual(['5000000'])
    expect(await workFor(claimId)).toBeUndefined()
  })

  test('that nobody begins in time is claimable again, and its item is closed', async () => {
    const { app, claimId, wallet } = await signedClaim()
    const item = await payoutOf(claimId)
    await database.query(
      `update work_item set payload = (payload::jsonb || '{"deadline": 1}')::json where subject = $1`,
      [claimId],
    )
    await reaches(wallet, 'failed')
    expect((await solver.report(item.id, `0x${'cd'.repeat(32)}`)).status).toBe(409)
    expect(await claimable(wallet)).toEqual(['5000000'])
    expect((await sign(app, claimId)).status).toBe(200)
    expect(await claimable(wallet)).toEqual(['5000000'])
    const again = await prepared(wallet)
    await sign(app, again)
    await solver.carryOut(await payoutOf(again))
    await reaches(wallet, 'paid')
    expect(await tokenBalance(wallet)).toBe(5_000_000n)
  })

  test('L-79: that was reported and is nowhere waits for its solver, who alone can say that it never comes', async () => {
    const { claimId, wallet } = await signedClaim()
    const item = await payoutOf(claimId)
    await solver.report(item.id, `0x${'ce'.repeat(32)}`)
    await database.query(
      `update work_item set payload = (payload::jsonb || '{"deadline": 1}')::json where subject = $1`,
      [claimId],
    )
    const looked = async () =>
      (await database.query('select not_before from work_item where subject = $1', [claimId]))[0]?.[
        'not_before'
      ]
    const first = await looked()
    await waitUntil('it was looked at', async () => String(await looked()) !== String(first))
    expect((await claimsOf(wallet))[0]?.status).toBe('pending')
    expect((await solver.fail(item.id, 'the transaction was cancelled')).status).toBe(200)
    await reaches(wallet, 'failed')
    expect(await claimable(wallet)).toEqual(['5000000'])
  })

  test('that pays less than was claimed is neither paid nor claimable', async () => {
    const { claimId, wallet } = await signedClaim()
    await solver.carryOut(await payoutOf(claimId), 90n)
    await waitUntil('an operator is called', async () => {
      const sql = `select 1 from work_item where subject = $1 and not_before > now() + interval '1 minute'`
      return (await database.query(sql, [claimId])).length > 0
    })
    expect(await tokenBalance(wallet)).toBe(4_500_000n)
    expect((await claimsOf(wallet))[0]?.status).toBe('pending')
    expect(await claimable(wallet)).toEqual([])
  })

  test('by a transaction that names another claim pays neither', async () => {
    const [one, other] = [await signedClaim(), await signedClaim()]
    const paidOne = await solver.carryOut(await payoutOf(one.claimId))
    await reaches(one.wallet, 'paid')
    const reused = await solver.report((await payoutOf(other.claimId)).id, paidOne)
    expect(reused.status).toBe(409)
    expect((await claimsOf(other.wallet))[0]?.status).toBe('pending')
  })

  test('on a chain that is down waits for it, and new claims there are refused', async () => {
    const { claimId, wallet, app } = await signedClaim(5_000_000n, usdc('optimism'))
    await accrue(wallet, 5_000_000n, usdc('optimism'))
    const item = await payoutOf(claimId)
    await proxy.set({ kind: 'refuse' })
    await solver.carryOut(item)
    await waitUntil('a new claim is refused', async () => {
      const answer = await ask(app.address, {
        chainId: usdc('optimism').chainId,
        currency: usdc('optimism').address,
      })
      return answer.status === 503 && readError(answer).errorCode === 'SERVICE_UNAVAILABLE'
    })
    expect((await claimsOf(wallet))[0]?.status).toBe('pending')
    await proxy.set({ kind: 'pass' })
    await reaches(wallet, 'paid')
  })
})

test('the books add up behind all of this', async () => {
  expect(await database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))).toEqual([])
})
