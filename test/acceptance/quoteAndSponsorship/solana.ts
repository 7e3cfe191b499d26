// Solana rules: who pays for deposits and for accounts.
import { solanaLibrary } from '@causeway/families/rules'
import { expect, test } from 'vitest'
import { userOf } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { sol, solanaChainId } from '../../support/solanaService.ts'
import { instructionsOf, sendStep } from '../../support/solanaSteps.ts'
import { balanceOf, heldOf, ofOneMarket, refusalOf, type Sponsor } from '../support/quoteRequests.ts'
import type { QuoteWorld } from '../support/quoteWorld.ts'
import {
  fromSolana,
  fundedPayer,
  lamportsOf,
  newSolanaAddress,
  quoteSolana,
  toSolana,
} from '../support/solanaRequests.ts'

export function describeSolana(at: () => QuoteWorld, sponsor: () => Sponsor): void {
  const user = () => at().bed.user
  const userHas = () => lamportsOf(at(), user().publicKey.toBase58())

  test.each<[string, () => object, bigint]>([
    ['SOL', () => ({}), 100_000_000n],
    ['a token', () => ({ originCurrency: at().bed.mint.toBase58() }), 0n],
  ])(
    'Q-solana-01: the named account pays fee and rent of a deposit of %s, to the lamport',
    async (_of, change, paid) => {
      const payer = fundedPayer(at())
      const account = payer.publicKey.toBase58()
      const balance = await balanceOf(at(), sponsor().wallet.address)
      const asked = await quoteSolana(at(), fromSolana(at(), { ...change(), depositFeePayer: account }))
      expect(asked.payer).toMatchObject({ account, rent: 0n })
      expect([asked.quote.fees.gas.amount, asked.subsidized]).toEqual(['0', 0n])
      const before = await userHas()
      await sendStep(at().bed, asked.quote.steps[0], [payer, user()])
      expect(before - (await userHas())).toBe(paid)
      expect(10n ** 9n - (await lamportsOf(at(), account))).toBe(asked.payer?.networkFee)
      expect(await balanceOf(at(), sponsor().wallet.address)).toBe(balance)
    },
  )

  test('Q-solana-01: without enough SOL it is told before anybody signs', async () => {
    const { Keypair } = solanaLibrary()
    const account = Keypair.generate().publicKey.toBase58()
    at().bed.node.airdrop(account, 5_000n)
    const refusal = await refusalOf(at(), '/quote', fromSolana(at(), { depositFeePayer: account }))
    expect([refusal.status, refusal.errorCode]).toEqual([400, 'INSUFFICIENT_FUNDS'])
    expect(JSON.parse(refusal.errorData ?? '')).toMatchObject({
      field: 'depositFeePayer',
      availableAmount: '5000',
    })
  })

  test('Q-solana-01: with its SOL gone since it gets no deposit through, and nobody pays', async () => {
    const { SystemProgram } = solanaLibrary()
    const payer = fundedPayer(at())
    const account = payer.publicKey.toBase58()
    const asked = await quoteSolana(at(), fromSolana(at(), { depositFeePayer: account }))
    const away = { fromPubkey: payer.publicKey, toPubkey: user().publicKey, lamports: 10n ** 9n }
    await at().bed.send([SystemProgram.transfer(away)], { signers: [user(), payer] })
    at().bed.node.airdrop(account, (asked.payer?.networkFee ?? 0n) - 1n)
    const before = [await userHas(), await lamportsOf(at(), account)]
    await expect(sendStep(at().bed, asked.quote.steps[0], [payer, user()])).rejects.toThrow()
    expect([await userHas(), await lamportsOf(at(), account)]).toEqual(before)
  })

  test('Q-solana-01: it works beside subsidizeFees and subsidizeRent and changes nothing of theirs', async () => {
    const both = { subsidizeFees: true, subsidizeRent: true }
    const payer = fundedPayer(at()).publicKey.toBase58()
    const ask = async (change: object) =>
      (await quoteSolana(at(), fromSolana(at(), { ...both, ...change }), sponsor())).quote
    const [alone, beside] = await ofOneMarket(
      () => ask({}),
      () => ask({ depositFeePayer: payer }),
    )
    expect([BigInt(alone.fees.gas.amount) > 0n, beside.fees.gas.amount]).toEqual([true, '0'])
    expect(beside.fees.subsidized).toEqual(alone.fees.subsidized)
    expect(beside.details.currencyOut).toEqual(alone.details.currencyOut)
  })

  test('Q-solana-02: signed by the sponsoring wallet first, it cannot be altered to drain that wallet', async () => {
    const { SystemProgram, TransactionMessage, VersionedTransaction } = solanaLibrary()
    const { connection } = at().bed
    const payer = fundedPayer(at())
    const payerHas = () => lamportsOf(at(), payer.publicKey.toBase58())
    const asked = await quoteSolana(at(), fromSolana(at(), { depositFeePayer: payer.publicKey.toBase58() }))
    const { blockhash: recentBlockhash } = await connection.getLatestBlockhash()
    const deposit = instructionsOf(asked.quote.steps[0])
    const transactionOf = (instructions: typeof deposit) => {
      const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
      return new VersionedTransaction(message.compileToV0Message())
    }
    const send = (transaction: typeof signed) =>
      connection.sendRawTransaction(transaction.serialize(), { maxRetries: 0 })
    const signed = transactionOf(deposit)
    signed.sign([payer])
    const drain = { fromPubkey: payer.publicKey, toPubkey: user().publicKey, lamports: 900_000_000 }
    const altered = transactionOf([...deposit, SystemProgram.transfer(drain)])
    altered.sign([user()])
    altered.signatures[0] = signed.signatures[0] ?? new Uint8Array(64)
    await expect(send(altered)).rejects.toThrow()
    expect(await payerHas()).toBe(10n ** 9n)
    signed.sign([user()])
    await send(signed)
    expect(10n ** 9n - (await payerHas())).toBe(asked.payer?.networkFee)
  })

  test('Q-solana-03: in a swap within Solana it is allowed, and pays what it is named for', async () => {
    const payer = fundedPayer(at())
    const swap = fromSolana(at(), {
      recipient: newSolanaAddress(),
      destinationChainId: solanaChainId,
      destinationCurrency: at().bed.mint.toBase58(),
      forceSolverExecution: true,
      depositFeePayer: payer.publicKey.toBase58(),
    })
    const asked = await quoteSolana(at(), swap)
    expect([asked.quote.details.operation, asked.payer?.rent]).toEqual(['swap', 0n])
    const before = await userHas()
    await sendStep(at().bed, asked.quote.steps[0], [payer, user()])
    expect(before - (await userHas())).toBe(100_000_000n)
    expect(10n ** 9n - (await lamportsOf(at(), payer.publicKey.toBase58()))).toBe(asked.payer?.networkFee)
  })

  test('Q-solana-04: to Solana subsidizeFees and subsidizeRent are paid from the application balance', async () => {
    const { address } = sponsor().wallet
    const [balance, held] = [await balanceOf(at(), address), await heldOf(at(), address)]
    const both = { subsidizeFees: true, subsidizeRent: true }
    const { quote, subsidized, rent, status } = await quoteSolana(at(), toSolana(at(), both), sponsor())
    expect([status, rent.sponsored, rent.userPays]).toEqual(['full', rent.total, 0n])
    expect(subsidized).toBe(BigInt(quote.fees.relayer.amount))
    expect([await balanceOf(at(), address), await heldOf(at(), address)]).toEqual([
      balance - subsidized,
      held + subsidized,
    ])
  })

  test('Q-solana-04: a cap binds fees and rent together', async () => {
    const both = { subsidizeFees: true, subsidizeRent: true }
    const full = await quoteSolana(at(), toSolana(at(), both), sponsor())
    const cap = full.subsidized - full.rent.total / 2n
    const capped = { ...both, maxSubsidizationAmount: cap.toString() }
    const { subsidized, rent } = await quoteSolana(at(), toSolana(at(), capped), sponsor())
    expect([subsidized, rent.sponsored + rent.userPays]).toEqual([cap, rent.total])
    expect(rent.sponsored).toBe(cap - (full.subsidized - full.rent.total))
  })

  test('Q-solana-05: from Solana the named wallet pays, without one the user, to the lamport', async () => {
    const asked = await quoteSolana(at(), fromSolana(at()))
    expect(asked.payer).toBeUndefined()
    const before = await userHas()
    await sendStep(at().bed, asked.quote.steps[0], [user()])
    const fee = BigInt(asked.quote.fees.gas.amount)
    expect(before - (await userHas())).toBe(100_000_000n + fee)
  })

  test.each<[string, () => object]>([
    ['the user', () => fromSolana(at(), { depositFeePayer: user().publicKey.toBase58() })],
    ['on an origin that is not Solana', () => toSolana(at(), { depositFeePayer: newSolanaAddress() })],
    [
      'an address of another family',
      () => fromSolana(at(), { depositFeePayer: userOf(at().network, 0).address }),
    ],
    [
      'an account without a key',
      () => fromSolana(at(), { depositFeePayer: at().bed.depository.addresses.vault }),
    ],
    ['a currency', () => fromSolana(at(), { depositFeePayer: sol })],
  ])('Q-solana-05: a depositFeePayer that is %s is refused by name', async (_what, body) => {
    const refusal = await refusalOf(at(), '/quote', body(), sponsor().headers)
    expect([refusal.status, refusal.message]).toEqual([400, expect.stringContaining('depositFeePayer')])
  })
}
