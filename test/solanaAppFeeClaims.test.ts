// Goal: app fees of orders whose deposit is on Solana come to whom they are owed, on Solana, by the signature of the
// EVM wallet that they are owed to: once, in full, or not at all. Who gains by breaking it: a stranger who claims what
// is another's, or the same twice; a recipient who has the solver pay for state whose rent he keeps; a solver that
// reports what it did not pay. Method: the service with its jobs, PostgreSQL and oracles over anvil and litesvm.
import type { Hex } from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import { createTokenAccount, tokenAccount } from '@causeway/localnet/standIns/solana'
import { Keypair, PublicKey } from '@solana/web3.js'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readClaimStep } from '../apps/quote-api/test/serviceSupport/appFeeClaim.ts'
import { post, readError, readOk, send } from '../apps/quote-api/test/serviceSupport/callService.ts'
import type { OpenWork } from '../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import { accrueAppFees, type LedgerAsset, verifyLedger } from '../packages/ledger/src/index.ts'
import { sol, solanaChainId } from './support/solanaService.ts'
import {
  instructionsOf,
  payOnSolana,
  quoteOver,
  type SolanaSettling,
  startSolanaSettling,
} from './support/solanaSettling.ts'

let at: SolanaSettling
beforeAll(async () => {
  at = await startSolanaSettling()
}, 180_000)
afterAll(() => at?.stop())

const token = (): LedgerAsset => ({
  chainId: solanaChainId,
  address: at.solana.bed.mint.toBase58(),
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
})
const coin: LedgerAsset = {
  chainId: solanaChainId,
  address: sol,
  symbol: 'SOL',
  name: 'Solana',
  decimals: 9,
}

/** A wallet that is owed so much. */
async function owed(amount: bigint, asset: LedgerAsset = token()): Promise<PrivateKeyAccount> {
  const app = privateKeyToAccount(generatePrivateKey())
  await at.database.transaction((tx) =>
    accrueAppFees(tx, {
      requestId: generatePrivateKey(),
      asset,
      fees: [{ recipient: app.address.toLowerCase(), amount }],
    }),
  )
  return app
}
/** A wallet on Solana, with an account of the token or without. */
async function payee(hasAccount = true): Promise<string> {
  const owner = Keypair.generate().publicKey
  const { bed } = at.solana
  bed.node.airdrop(owner.toBase58(), 1_000_000n)
  if (hasAccount) await bed.send([createTokenAccount({ payer: bed.user.publicKey, owner, mint: bed.mint })])
  return owner.toBase58()
}
const tokensOf = (owner: string): bigint => {
  const holder = tokenAccount(new PublicKey(owner), at.solana.bed.mint)
  const data = at.solana.bed.node.account(holder.toBase58(), 'processed')?.data
  return data === undefined ? 0n : Buffer.from(data).readBigUInt64LE(64)
}
const lamportsOf = (owner: string) => at.solana.bed.node.account(owner, 'processed')?.lamports ?? 0n

const ask = (wallet: string, recipient: string, more: object = {}) =>
  post(`${at.solana.url}/app-fees/${wallet}/claim`, {
    chainId: solanaChainId,
    currency: token().address,
    recipient,
    ...more,
  })
const submit = (claimId: Hex, signature: Hex) =>
  post(`${at.solana.url}/execute/permits?signature=${signature}`, { kind: 'claim', requestId: claimId })
/** Prepared and signed: the claim is pending. */
async function claimed(app: PrivateKeyAccount, recipient: string, more: object = {}): Promise<Hex> {
  const { claimId, typedData } = readClaimStep(await ask(app.address, recipient, more))
  expect((await submit(claimId, await app.signTypedData(typedData))).status).toBe(200)
  return claimId
}

const claimsSchema = z.object({
  claims: z.array(z.looseObject({ claimId: z.string(), status: z.string(), txHash: z.string().nullable() })),
})
const claimsOf = async (wallet: string) =>
  readOk(await send(`${at.solana.url}/app-fees/${wallet}/claims`), claimsSchema).claims
const balancesSchema = z.object({ balances: z.array(z.looseObject({ amount: z.string() })) })
const claimable = async (wallet: string) =>
  readOk(await send(`${at.solana.url}/app-fees/${wallet}/claimable`), balancesSchema).balances.map(
    ({ amount }) => amount,
  )
const reaches = (wallet: string, status: string) =>
  waitUntil(`the claim is ${status}`, async () => (await claimsOf(wallet))[0]?.status === status)
async function payoutOf(claimId: Hex): Promise<OpenWork> {
  const item = (await at.requests.solver.work()).find(
    ({ kind, payload }) => kind === 'claim' && 'claimId' in payload && payload.claimId === claimId,
  )
  if (item === undefined) throw new Error('there is no payout')
  return item
}
const report = async (item: OpenWork, transaction: string) =>
  (await at.requests.solver.report(item.id, transaction)).status

describe('a claim', () => {
  test('F-148: of what an order from Solana accrued is signed by its EVM wallet and paid on Solana, once', async () => {
    const [app, recipient] = [privateKeyToAccount(generatePrivateKey()), await payee()]
    const appFees = [{ recipient: app.address, fee: '1000' }]
    const quote = await quoteOver(at, 'from', { appFees })
    await at.solana.bed.send(instructionsOf(quote))
    await at.requests.solver.carryOut(await at.requests.workFor(quote, 'fill'))
    await at.requests.reachesStage(quote, 'settled')
    expect(await claimable(app.address)).toEqual(['2000000'])

    const answer = await ask(app.address, recipient)
    const { claimId, typedData } = readClaimStep(answer)
    expect(typedData).toMatchObject({
      domain: { name: 'Causeway app fees', version: '1' },
      message: {
        chainId: '792703809',
        recipient,
        currency: token().address,
        pays: '2.0 USDC',
        wallet: app.address.toLowerCase(),
      },
    })
    // Wallets refuse to sign for a chain that they are not on, and none is on this one.
    expect(typedData.domain).not.toHaveProperty('chainId')
    const signature = await app.signTypedData(typedData)
    const answers = await Promise.all([1, 2, 3].map(() => submit(claimId, signature)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await claimable(app.address)).toEqual([])
    const item = await payoutOf(claimId)
    expect(item.payload).toMatchObject({ recipient, amount: '2000000' })
    const paid = await payOnSolana(at, item)
    expect(await report(item, paid)).toBe(200)
    await reaches(app.address, 'paid')
    expect(await claimsOf(app.address)).toMatchObject([{ claimId, status: 'paid', txHash: paid, recipient }])
    expect(tokensOf(recipient)).toBe(2_000_000n)
    expect((await submit(claimId, signature)).status).toBe(200)
    expect([await claimable(app.address), await claimsOf(app.address)]).toMatchObject([[], { length: 1 }])
  })

  test('of SOL goes to an account that is not there yet, from the least on that it keeps', async () => {
    const [app, recipient] = [await owed(30_000_000n, coin), Keypair.generate().publicKey.toBase58()]
    const few = await ask(app.address, recipient, { currency: sol, amount: '890879' })
    expect(readError(few)).toMatchObject({ statusCode: 400, errorCode: 'AMOUNT_TOO_LOW' })
    const item = await payoutOf(await claimed(app, recipient, { currency: sol }))
    expect(await report(item, await payOnSolana(at, item))).toBe(200)
    await reaches(app.address, 'paid')
    expect(lamportsOf(recipient)).toBe(30_000_000n)
  })

  test('that somebody else signed, or that was signed for other terms, moves nothing', async () => {
    const [app, thief] = [await owed(5_000_000n), privateKeyToAccount(generatePrivateKey())]
    const recipient = await payee()
    const { claimId, typedData } = readClaimStep(await ask(app.address, recipient))
    const byThief = await submit(claimId, await thief.signTypedData(typedData))
    expect([byThief.status, readError(byThief).errorCode]).toEqual([400, 'INVALID_SIGNATURE'])
    const other = readClaimStep(await ask(app.address, await payee()))
    for (const message of [other.typedData.message, { ...typedData.message, chainId: '1' }]) {
      const swapped = await submit(claimId, await app.signTypedData({ ...typedData, message }))
      expect(readError(swapped).errorCode).toBe('INVALID_SIGNATURE')
    }
    const own = await ask(thief.address, recipient)
    expect(readError(own).errorCode).toBe('INSUFFICIENT_APP_FEES')
    expect(await claimable(app.address)).toEqual(['5000000'])
  })
})

describe('a recipient is refused', () => {
  test('of SOL that holds more than can be counted', async () => {
    const [app, recipient] = [await owed(30_000_000n, coin), Keypair.generate().publicKey.toBase58()]
    at.solana.bed.node.airdrop(recipient, 2n ** 53n)
    const answer = await ask(app.address, recipient, { currency: sol })
    expect([answer.status, readError(answer).errorCode]).toEqual([400, 'INVALID_RECIPIENT'])
  })

  test.each<[string, string, () => string | Promise<string>]>([
    ['of another family', 'INVALID_ADDRESS', () => `0x${'ab'.repeat(20)}`],
    ['that is nobody', 'INVALID_RECIPIENT', () => sol],
    ['that is the mint', 'INVALID_RECIPIENT', () => token().address],
    ['that is the depository', 'INVALID_RECIPIENT', () => at.solana.bed.depository.program.toBase58()],
    ['that has no key', 'RECIPIENT_HAS_CODE', () => at.solana.bed.depository.addresses.vault],
    [
      'that is a token account',
      'RECIPIENT_HAS_CODE',
      async () => {
        const owner = Keypair.generate()
        await at.solana.bed.send([
          createTokenAccount({
            payer: at.solana.bed.user.publicKey,
            owner: owner.publicKey,
            mint: at.solana.bed.mint,
          }),
        ])
        return tokenAccount(owner.publicKey, at.solana.bed.mint).toBase58()
      },
    ],
    ['that is a program', 'RECIPIENT_HAS_CODE', () => at.solana.bed.forwarder.toBase58()],
    ['that would have its token account made', 'INVALID_RECIPIENT', () => payee(false)],
    // Base58 has no `l`. Without a letter L an address in lower case may well be another address.
    ['in lower case', 'INVALID_ADDRESS', () => 'CbKGgVKLJFb8bBrf58DnAkdryX6ubewVytn7X957YwNr'.toLowerCase()],
  ])('%s', async (_what, code, recipient) => {
    const app = await owed(5_000_000n)
    const answer = await ask(app.address, await recipient())
    expect([answer.status, readError(answer).errorCode]).toEqual([400, code])
    expect(await claimable(app.address)).toEqual(['5000000'])
  })
})

test('a claim of less than its payout costs is refused, and says how little works', async () => {
  const [app, recipient] = [await owed(5_000_000n), await payee()]
  const refusal = readError(await ask(app.address, recipient, { amount: '1000' }))
  expect([refusal.statusCode, refusal.errorCode]).toEqual([400, 'AMOUNT_TOO_LOW'])
  const { minimumAmount } = z
    .object({ minimumAmount: z.string() })
    .loose()
    .parse(JSON.parse(String(refusal.errorData)))
  // The marker and a signature, at 150 dollars a SOL.
  expect(BigInt(minimumAmount)).toBeGreaterThan(135_000n)
  expect((await ask(app.address, recipient, { amount: minimumAmount })).status).toBe(200)
})

describe('a payout', () => {
  test('by a transaction of another claim, or one that failed, pays nothing', async () => {
    const [one, other] = [await owed(5_000_000n), await owed(5_000_000n)]
    const recipient = await payee()
    const [mine, others] = [
      await payoutOf(await claimed(one, recipient)),
      await payoutOf(await claimed(other, recipient)),
    ]
    const paid = await payOnSolana(at, mine)
    expect([await report(mine, paid), await report(others, paid)]).toEqual([200, 409])
    await reaches(one.address, 'paid')
    // One that names the first claim again: it pays the recipient, and not for the second.
    const named = await payOnSolana(at, others, {
      orderId: 'claimId' in mine.payload ? mine.payload.claimId : '',
    })
    expect(await report(others, named)).toBe(200)
    await waitUntil('an operator is called', async () => {
      const sql = `select 1 from work_item where id = $1 and not_before > now() + interval '1 minute'`
      return (await at.database.query(sql, [others.id])).length > 0
    })
    expect((await claimsOf(other.address))[0]?.status).toBe('pending')
    expect(await claimable(other.address)).toEqual([])
  })

  test('that a stranger made in the solver\u2019s place ends nothing: the solver\u2019s own one does', async () => {
    const [app, recipient] = [await owed(5_000_000n), await payee()]
    const item = await payoutOf(await claimed(app, recipient))
    await payOnSolana({ ...at, solver: at.solana.bed.user }, item, { amount: 1n })
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect((await claimsOf(app.address))[0]?.status).toBe('pending')
    expect(await report(item, await payOnSolana(at, item))).toBe(200)
    await reaches(app.address, 'paid')
  })

  test('counts once it is final, and not before', async () => {
    const [app, recipient] = [await owed(5_000_000n), await payee()]
    const item = await payoutOf(await claimed(app, recipient))
    at.solana.bed.node.hold()
    await report(item, await payOnSolana(at, item))
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect((await claimsOf(app.address))[0]?.status).toBe('pending')
    at.solana.bed.node.finalize()
    await reaches(app.address, 'paid')
  })

  test('that the solver gives up is claimable again', async () => {
    const [app, recipient] = [await owed(5_000_000n), await payee()]
    const item = await payoutOf(await claimed(app, recipient))
    await at.database.query('update work_item set attempts = 20 where id = $1', [item.id])
    await at.requests.solver.fail(item.id, 'EXECUTION_REVERTED: the recipient has no account of the token')
    await reaches(app.address, 'failed')
    expect(await claimable(app.address)).toEqual(['5000000'])
  })
})

test('the books add up behind all of this', async () => {
  expect(await at.database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))).toEqual([])
})
