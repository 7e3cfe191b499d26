// Goal: requests from and to Solana live their whole life on what the cluster shows. Users send the steps of their
// quotes on the real runtime, a solver works by hand, oracles sign for real; what is short, late, foreign or made up
// moves no money but the user's own, back. Method: the service with its jobs and PostgreSQL over anvil and litesvm,
// of whose three endpoints one may lie.

import { bytes32Text, bytesToHex, Secret } from '@causeway/core'
import { SolanaFees, tokenProgram } from '@causeway/families/rules'
import { waitUntil } from '@causeway/localnet'
import {
  createTokenAccount,
  depositNative,
  depositToken,
  tokenAccount,
  transfer,
  transferNative,
} from '@causeway/localnet/standIns/solana'
import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createRequestAdministration } from '../apps/quote-api/src/operate/admin/requestAdministration.ts'
import { type QuoteAnswer, send } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { bytesOf, debitOf, orderIdOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import type { OpenWork } from '../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import { createSponsor, moneyOf } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import type { PayingChain } from '../packages/families/src/shared/payingChain.ts'
import { solanaPaying } from '../packages/families/src/solana/paying/solanaPayingChain.ts'
import { solanaQuotingChain } from '../packages/families/src/solana/quoting/solanaQuotingChain.ts'
import type { SendOptions } from './families/solanaSupport/solanaBed.ts'
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
afterEach(() => at.endpoints[0]?.set({ kind: 'pass' }))

/** A quote shows whole lamports; what it debits was rounded up from less. */
const isAbout = (debit: bigint) => (paid: unknown) =>
  typeof paid === 'bigint' && paid > debit - 3n && paid <= debit

async function requestsBy(hash: string): Promise<readonly unknown[]> {
  const { status, text } = await send(`${at.solana.url}/requests/v2?hash=${hash}`)
  expect(status).toBe(200)
  return JSON.parse(text).requests.map(({ id }: { readonly id: string }) => id)
}

async function requestsOf(
  apiKey: string,
  named: Readonly<Record<string, string>>,
): Promise<readonly unknown[]> {
  const query = new URLSearchParams(named).toString()
  const { text } = await send(`${at.solana.url}/requests/v3?${query}`, { headers: { 'x-api-key': apiKey } })
  return JSON.parse(text).requests.map(({ id }: { readonly id: string }) => id)
}

const deposit = (quote: QuoteAnswer, options: SendOptions = {}) =>
  at.solana.bed.send(instructionsOf(quote), options)

describe('from Solana', () => {
  test.each([
    // A SOL is 150 dollars here: 0.15 millionths per lamport, rounded up.
    ['SOL', { originCurrency: sol, amount: '20000000' }, [3n, 20n] as const],
    ['a token', {}, [1n, 1n] as const],
  ])(
    'a deposit of %s is seen, filled elsewhere, proven, and paid for by its sponsor',
    async (_what, more, [rate, per]) => {
      const sponsor = await createSponsor(at.database, 1_000_000_000n)
      const quote = await quoteOver(at, 'from', more, sponsor)
      expect(quote.steps).toMatchObject([
        { id: 'deposit', kind: 'transaction', items: [{ check: { endpoint: expect.any(String) } }] },
      ])
      const paid = await deposit(quote)
      const item = await at.requests.workFor(quote, 'fill')
      expect(item.payload).toMatchObject({ deposits: [{ transactionId: paid }] })
      const filled = await at.requests.solver.carryOut(item)
      await at.requests.reaches(quote, 'success')
      expect(await at.requests.statusOf(quote)).toMatchObject({ inTxHashes: [paid], txHashes: [filled] })
      await at.requests.reachesStage(quote, 'settled')
      const debit = (debitOf(quote) * rate + per - 1n) / per
      const { available, held } = await moneyOf(at.database, sponsor.wallet)
      expect([1_000_000_000n - available, held]).toEqual([expect.toSatisfy(isAbout(debit)), 0n])
      expect(await requestsBy(paid)).toEqual([quote.requestId])
      expect(await requestsBy(paid.toLowerCase())).toEqual([])
      const user = at.solana.bed.user.publicKey.toBase58()
      expect(await requestsOf(sponsor.apiKey, { user })).toContain(quote.requestId)
      expect(await requestsOf(sponsor.apiKey, { user: user.toLowerCase() })).toEqual([])
      const recipient = quote.details.recipient
      expect(await requestsOf(sponsor.apiKey, { recipient: recipient.toLowerCase() })).toContain(
        quote.requestId,
      )
    },
  )
})

describe('to Solana', () => {
  test.each([
    ['SOL', { destinationCurrency: sol }],
    ['a token', {}],
  ])('a fill in %s that names its order is success, and proven', async (_what, more) => {
    const sponsor = await createSponsor(at.database, 1_000_000_000n)
    const quote = await quoteOver(at, 'to', more, sponsor)
    await at.requests.execute(quote)
    const item = await at.requests.workFor(quote, 'fill')
    expect(item.payload).not.toHaveProperty('fillContract')
    const signature = await payOnSolana(at, item)
    expect((await at.requests.solver.report(item.id, signature)).status).toBe(200)
    await at.requests.reaches(quote, 'success')
    expect((await at.requests.statusOf(quote)).txHashes).toEqual([signature])
    await at.requests.reachesStage(quote, 'settled')
    expect(await moneyOf(at.database, sponsor.wallet)).toEqual({
      available: 1_000_000_000n - debitOf(quote),
      held: 0n,
    })
  })
})

test('F-1: a deposit and a fill of version 1 settle their requests', async () => {
  const quote = await quoteOver(at, 'from')
  const paid = await deposit(quote, { version: 1 })
  const item = await at.requests.workFor(quote, 'fill')
  expect(item.payload).toMatchObject({ deposits: [{ transactionId: paid }] })
  const other = await quoteOver(at, 'to')
  await at.requests.execute(other)
  const work = await at.requests.workFor(other, 'fill')
  const filled = await payOnSolana(at, work, { version: 1 })
  expect((await at.requests.solver.report(work.id, filled)).status).toBe(200)
  await at.requests.reaches(other, 'success')
  await at.requests.reachesStage(other, 'settled')
})

describe('what the cluster may still drop', () => {
  afterEach(() => at.solana.bed.node.finalize())

  test('F-104: is no success, whoever has voted for it, until it is final', async () => {
    const sponsor = await createSponsor(at.database, 1_000_000_000n)
    const quote = await quoteOver(at, 'to', {}, sponsor)
    await at.requests.execute(quote)
    const item = await at.requests.workFor(quote, 'fill')
    at.solana.bed.node.hold()
    await at.requests.solver.report(item.id, await payOnSolana(at, item))
    // Longer than fills are looked at.
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    expect(await at.requests.stageOf(quote)).toBe('filling')
    at.solana.bed.node.finalize()
    await at.requests.reaches(quote, 'success')
    await at.requests.reachesStage(quote, 'settled')
  })

  test('F-104: is no deposit, and a fork that replaced it leaves nothing behind', async () => {
    const quote = await quoteOver(at, 'from')
    const { node } = at.solana.bed
    node.hold()
    node.mine(1)
    await deposit(quote)
    // Longer than deposits are looked for.
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    expect(await at.requests.openWork(quote, 'fill')).toBeUndefined()
    node.drop()
    // The runtime would make the very block again, which no cluster does.
    node.mine(2)
    await deposit(quote)
    await at.requests.workFor(quote, 'fill')
  })
})

describe('what does not fit on Solana goes back', () => {
  async function refunded(quote: QuoteAnswer, failReason: string): Promise<OpenWork> {
    const item = await at.requests.workFor(quote, 'refund')
    const paid = await payOnSolana(at, item)
    expect((await at.requests.solver.report(item.id, paid)).status).toBe(200)
    // Until its quote expires, another deposit may still come.
    await at.database.query(
      `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await at.requests.reaches(quote, 'refund')
    const status = await at.requests.statusOf(quote)
    expect(status).toMatchObject({ failReason, txHashes: [paid] })
    return item
  }
  const depositing = (quote: QuoteAnswer, amount: bigint) => ({
    sender: at.solana.bed.user.publicKey,
    amount,
    id: orderIdOf(quote),
  })

  test('a deposit that is short', async () => {
    const quote = await quoteOver(at, 'from')
    const { depository, mint, send } = at.solana.bed
    await send([depositToken(depository, { ...depositing(quote, 10_000_000n), mint })])
    const item = await refunded(quote, 'DEPOSITED_AMOUNT_TOO_LOW_TO_FILL')
    expect(item.payload).toMatchObject({ recipient: at.solana.bed.user.publicKey.toBase58() })
    expect(item.payload).not.toHaveProperty('fillContract')
  })

  test('a deposit of another currency', async () => {
    const quote = await quoteOver(at, 'from')
    const { depository, send } = at.solana.bed
    await send([depositNative(depository, depositing(quote, 100_000_000n))])
    expect((await refunded(quote, 'INCORRECT_DEPOSIT_CURRENCY')).payload).toMatchObject({ currency: sol })
  })

  test('a deposit behind the deadline of its order', async () => {
    const quote = await quoteOver(at, 'from')
    await at.database.query(
      `update orders set deadline = now() - interval '1 minute', expires_at = now() - interval '2 minutes'
       where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await deposit(quote)
    await refunded(quote, 'PROTOCOL_DEADLINE_EXPIRED')
  })
})

// A refund makes no account, and whoever it is for may close his after the quote.
test('Q-64: a refund to a wallet that closed its token account goes to the user behind it', async () => {
  const { bed } = at.solana
  const { depository, mint, user } = bed
  const wallet = Keypair.generate()
  const owner = wallet.publicKey
  bed.node.airdrop(owner.toBase58(), 10_000_000n)
  await bed.send([createTokenAccount({ payer: user.publicKey, owner, mint })])
  const quote = await quoteOver(at, 'from', { refundTo: owner.toBase58() })
  await bed.send([closeTokenAccount(owner, mint)], { signers: [wallet] })
  await bed.send([
    depositToken(depository, { sender: user.publicKey, amount: 10_000_000n, id: orderIdOf(quote), mint }),
  ])

  const item = await at.requests.workFor(quote, 'refund')
  const refusal = 'the recipient has no account of the token'
  expect(await planOf(item)).toEqual({ refusal })
  expect((await at.requests.solver.fail(item.id, `EXECUTION_REVERTED: ${refusal}`)).status).toBe(200)
  const administration = createRequestAdministration(at.database)
  const requestId = bytes32Text.parse(quote.requestId)
  expect(await administration.explain(requestId)).toMatchObject({
    work: [{ kind: 'refund', state: 'open', reason: expect.stringContaining(refusal) }],
  })

  const again = await at.requests.workFor(quote, 'refund')
  if (again.kind !== 'refund') throw new Error('nothing is refunded')
  expect(again.payload.recipient).toBe(user.publicKey.toBase58())
  expect(await planOf(again)).toHaveProperty('units')
  const heldByUser = () =>
    Buffer.from(
      bed.node.account(tokenAccount(user.publicKey, mint).toBase58(), 'finalized')?.data ?? [],
    ).readBigUInt64LE(64)
  const before = heldByUser()
  await at.requests.solver.report(again.id, await payOnSolana(at, again))
  await at.database.query(
    `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
    [bytesOf(quote.requestId)],
  )
  await at.requests.reaches(quote, 'refund')
  expect(heldByUser() - before).toBe(BigInt(again.payload.amount))
})

/** Plan that our solver makes of a refund before it signs it. */
async function planOf(item: OpenWork): ReturnType<PayingChain['plan']> {
  if (item.kind !== 'refund') throw new Error('no refund')
  const client = solanaQuotingChain.connect({
    id: 'solana',
    vmType: 'solana-vm',
    network: undefined,
    hubChainId: '1',
    additionalData: {},
    ready: true,
    rpcThreshold: 2,
    unsetVariables: [],
    endpoints: at.endpoints.map(({ url }) => new Secret(url)),
  })
  onTestFinished(() => client.close())
  const key = new Secret(bytesToHex(at.solver.secretKey.slice(0, 32)))
  const { orderId, recipient, currency, amount } = item.payload
  const fees = new SolanaFees({
    lamportsPerSignature: 5_000n,
    microLamportsPerUnit: 1_000n,
    rentLamportsPerByte: 6_960n,
  })
  return solanaPaying.open({ client, key, fillContract: undefined }).plan(
    {
      id: bytes32Text.parse(orderId),
      orderId: bytes32Text.parse(orderId),
      mark: 'paid',
      makesNoState: true,
      payments: [{ recipient, currency, amount: BigInt(amount) }],
    },
    { fees, ceiling: 10_000n },
  )
}

/** By its owner, who gets its rent. @source SPL Token, CloseAccount */
function closeTokenAccount(owner: PublicKey, mint: PublicKey): TransactionInstruction {
  return new TransactionInstruction({
    programId: new PublicKey(tokenProgram),
    data: Buffer.of(9),
    keys: [
      { pubkey: tokenAccount(owner, mint), isSigner: false, isWritable: true },
      { pubkey: owner, isSigner: false, isWritable: true },
      { pubkey: owner, isSigner: true, isWritable: false },
    ],
  })
}

describe('F-6: a transaction of a version that nobody reads', () => {
  const unread = async () => {
    at.solana.bed.node.showAs('next', 127)
    return deposit(await quoteOver(at, 'from'))
  }
  const named = (transactionId: string) =>
    at.database.query<{ readonly chainId: bigint; readonly purpose: string; readonly reason: string }>(
      'select chain_id as "chainId", purpose, reason from put_aside where transaction_id = $1',
      [transactionId],
    )

  test('delays no other deposit, stands on the list, and counts once it is read', async () => {
    const waiting = await quoteOver(at, 'from')
    const strangers = [await unread(), await unread()]
    at.solana.bed.node.showAs('next', 127)
    const mine = await deposit(waiting)
    const quote = await quoteOver(at, 'from')
    await deposit(quote)
    await at.requests.workFor(quote, 'fill')
    for (const transactionId of [...strangers, mine]) {
      const reading = { chainId: BigInt(solanaChainId), purpose: 'deposits', reason: 'unreadable' }
      expect(await named(transactionId)).toEqual([reading])
    }
    expect((await at.requests.statusOf(waiting)).status).toBe('waiting')

    at.solana.bed.node.showAs(mine, 0)
    await at.database.query(`update put_aside set last_tried_at = now() - interval '1 hour'`)
    await at.requests.workFor(waiting, 'fill')
    expect(await named(mine)).toEqual([])
    expect(await named(strangers[0] ?? '')).toHaveLength(1)
  })
})

describe('nobody is taken in by', () => {
  const isOffered = async (quote: QuoteAnswer) =>
    (await at.requests.solver.work()).some(({ requestId }) => requestId === quote.requestId)
  /** Until something that came later was taken. */
  async function passesBy(quote: QuoteAnswer): Promise<void> {
    const later = await quoteOver(at, 'from')
    await deposit(later)
    await at.requests.workFor(later, 'fill')
    expect(await isOffered(quote)).toBe(false)
    expect((await at.requests.statusOf(quote)).status).toBe('waiting')
  }

  test('a plain transfer into the vault', async () => {
    const quote = await quoteOver(at, 'from', { originCurrency: sol, amount: '20000000' })
    const { depository, user, send } = at.solana.bed
    await send([
      transferNative({ from: user.publicKey, to: depository.addresses.vault, amount: 20_000_000n }),
    ])
    await passesBy(quote)
  })

  test('a deposit that failed', async () => {
    const quote = await quoteOver(at, 'from')
    const { user, send, mint } = at.solana.bed
    const from = tokenAccount(user.publicKey, mint)
    const tooMuch = transfer({ from, to: from, authority: user.publicKey, mint, amount: 10n ** 18n })
    await send([...instructionsOf(quote), tooMuch], { skipPreflight: true })
    await passesBy(quote)
  })

  test.each([
    ['withholds a deposit', (list: readonly unknown[]) => list.slice(1)],
    ['invents a deposit', (list: readonly unknown[]) => [...list.slice(0, 1), ...invented(list)]],
  ])('an endpoint that %s', async (_what, told) => {
    await at.endpoints[0]?.set({
      kind: 'lie',
      rewrite: ({ method }, result) =>
        method === 'getSignaturesForAddress' && Array.isArray(result) ? told(result) : result,
    })
    const quote = await quoteOver(at, 'from')
    const paid = await deposit(quote)
    const item = await at.requests.workFor(quote, 'fill')
    expect(item.payload).toMatchObject({ deposits: [{ transactionId: paid }] })
  })

  test('a fill that pays an account which is not the recipient\u2019s, and one of another order', async () => {
    const [quote, other] = [await quoteOver(at, 'to'), await quoteOver(at, 'to')]
    for (const one of [quote, other]) await at.requests.execute(one)
    const item = await at.requests.workFor(quote, 'fill')
    const { mint, user } = at.solana.bed
    const wrong = await payOnSolana(at, item, { to: tokenAccount(user.publicKey, mint), amount: 1n })
    expect((await at.requests.solver.report(item.id, wrong)).status).toBe(200)
    await at.requests.workFor(quote, 'fill')
    await waitUntil('it is offered again', async () => isOffered(quote))

    const elsewhere = await at.requests.workFor(other, 'fill')
    const paid = await payOnSolana(at, elsewhere)
    expect((await at.requests.solver.report(item.id, paid)).status).toBe(200)
    await waitUntil('it is offered once more', async () => isOffered(quote))
    // One transaction does one piece of work, whoever named it first.
    const again = await payOnSolana(at, elsewhere)
    expect((await at.requests.solver.report(elsewhere.id, again)).status).toBe(200)
    await at.requests.reaches(other, 'success')
    const right = await payOnSolana(at, item)
    expect((await at.requests.solver.report(item.id, right)).status).toBe(200)
    await at.requests.reaches(quote, 'success')
    expect((await at.requests.statusOf(quote)).txHashes).toEqual([right])
  })

  test('F-149: a report that is no transaction of the chain', async () => {
    const quote = await quoteOver(at, 'to')
    await at.requests.execute(quote)
    const item = await at.requests.workFor(quote, 'fill')
    const { status, text } = await at.requests.solver.report(item.id, `0x${'ab'.repeat(32)}`)
    expect([status, JSON.parse(text)]).toMatchObject([400, { errorCode: 'INVALID_TRANSACTION_ID' }])
  })
})

/** The newest transaction of a list, under an id that nobody signed. */
function invented(list: readonly unknown[]): readonly unknown[] {
  const [newest, ...others] = list
  return newest === undefined ? [] : [{ ...Object(newest), signature: '2'.repeat(87) }, ...others]
}
