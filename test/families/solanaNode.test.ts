// Goal: the local cluster speaks Solana's protocol, so that what is proven on it holds on a real one. Method:
// the public client library sends to it and checks every answer against its own schemas.
import type { Hex } from '@causeway/core'
import { token2022Program, tokenProgram } from '@causeway/families/rules'
import {
  depositNative,
  depositToken,
  forwardInstruction,
  memo,
  tokenAccount,
} from '@causeway/localnet/standIns/solana'
import {
  ComputeBudgetProgram,
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type SolanaBed, startSolanaBed } from './solanaSupport/solanaBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const anyVersion = { commitment: 'finalized', maxSupportedTransactionVersion: 1 } as const

const closable = z.custom<{ close(): void }>((value) => typeof Object(value).close === 'function')

let bed: SolanaBed
beforeAll(async () => {
  bed = await startSolanaBed()
})
afterAll(() => bed?.stop())
beforeEach(() => bed.node.finalize())

const deposit = () => depositNative(bed.depository, { sender: bed.user.publicKey, amount: 7n, id })

test('the client reads the balance of a token account, and is told what is none', async () => {
  const owner = bed.user.publicKey
  const held = tokenAccount(owner, bed.mint)
  const { value } = await bed.connection.getTokenAccountBalance(held)
  const { amount, decimals } = value
  const data = bed.node.account(held.toBase58(), 'confirmed')?.data
  expect(amount).toBe(String(data?.length === 165 && Buffer.from(data).readBigUInt64LE(64)))
  expect([decimals, value.uiAmountString]).toEqual([6, String(Number(amount) / 1e6)])
  await expect(bed.connection.getTokenAccountBalance(owner)).rejects.toThrow('not a Token account')
  const nobody = Keypair.generate().publicKey
  await expect(bed.connection.getTokenAccountBalance(nobody)).rejects.toThrow('could not find account')
})

describe('the client accepts', () => {
  test.each(['legacy', 0, 1] as const)(
    'a transaction of version %s with all that its run added',
    async (version) => {
      const token = depositToken(bed.depository, {
        sender: bed.user.publicKey,
        mint: bed.mint,
        amount: 5n,
        id,
      })
      const signature = await bed.send([forwardInstruction(bed.forwarder, deposit()), token, memo('hello')], {
        version,
      })
      const found = await bed.connection.getTransaction(signature, anyVersion)
      expect(found).toMatchObject({ version })
      expect(found?.meta?.err).toBeNull()
      expect(found?.meta?.innerInstructions?.map(({ index }) => index)).toEqual([0, 1])
      expect(found?.meta?.logMessages?.some((line) => line.includes('success'))).toBe(true)
      expect(found?.transaction.signatures[0]).toBe(signature)
      const [before, after] = [found?.meta?.preTokenBalances, found?.meta?.postTokenBalances]
      expect(before?.map(({ mint }) => mint)).toEqual([bed.mint.toBase58(), bed.mint.toBase58()])
      const gained = after?.map(
        ({ uiTokenAmount }, at) =>
          BigInt(uiTokenAmount.amount) - BigInt(before?.[at]?.uiTokenAmount.amount ?? 0),
      )
      expect(gained?.toSorted()).toEqual([-5n, 5n])
    },
  )

  test('a failed transaction with the error of its instruction', async () => {
    const broke = depositNative(bed.depository, { sender: bed.user.publicKey, amount: 10n ** 15n, id })
    const signature = await bed.send([broke], { skipPreflight: true })
    const found = await bed.connection.getTransaction(signature, anyVersion)
    expect(found?.meta?.err).toEqual({ InstructionError: [0, { Custom: 1 }] })
  })

  test('blocks, slots, statuses, accounts and what the cluster is called', async () => {
    const { connection, node } = bed
    const signature = await bed.send([memo('hello')])
    const slot = await connection.getSlot('finalized')
    const block = await connection.getBlock(slot, {
      transactionDetails: 'none',
      rewards: false,
      ...anyVersion,
    })
    expect(block?.blockhash).toBe(node.block(BigInt(slot))?.hash)
    const { value } = await connection.getSignatureStatuses([signature], { searchTransactionHistory: true })
    expect(value).toMatchObject([{ confirmationStatus: 'finalized', err: null }])
    expect(await connection.getAccountInfo(bed.depository.program)).toMatchObject({ executable: true })
    expect(await connection.getAccountInfo(Keypair.generate().publicKey)).toBeNull()
    expect(await connection.getBalance(bed.recipient)).toBe(10_000_000_000)
    expect(await connection.getGenesisHash()).toBe(node.genesisHash)
    expect(await connection.getVersion()).toMatchObject({ 'solana-core': 'litesvm-1.5.0' })
    expect(await connection.getMinimumBalanceForRentExemption(0)).toBe(890_880)
  })
})

describe('what quotes and wallets ask', () => {
  const hot = () => new PublicKey(bed.depository.addresses.vault)

  test('several accounts at once, in their order', async () => {
    const found = await bed.connection.getMultipleAccountsInfo([
      bed.recipient,
      Keypair.generate().publicKey,
      bed.depository.program,
    ])
    expect(found.map((account) => account?.executable)).toEqual([false, undefined, true])
  })

  test('the fee of a message, which is what its payer loses, and what was paid per unit to write to an account', async () => {
    const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 2_000_000 })
    const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 30_000 })
    const payer = Keypair.generate()
    bed.node.airdrop(payer.publicKey.toBase58(), 10n ** 9n)
    const { blockhash } = await bed.connection.getLatestBlockhash()
    const message = new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: blockhash,
      instructions: [limit, price, deposit()],
    }).compileToV0Message()
    const { value: fee } = await bed.connection.getFeeForMessage(message, 'confirmed')
    expect(fee).toBe(2 * 5_000 + 60_000)
    const signature = await bed.send([limit, price, deposit()], { signers: [payer, bed.user] })
    expect(await bed.connection.getBalance(payer.publicKey)).toBe(10 ** 9 - (fee ?? 0))
    const found = await bed.connection.getTransaction(signature, anyVersion)
    expect(found?.meta?.fee).toBe(fee)
    const ofVault = await bed.connection.getRecentPrioritizationFees({ lockedWritableAccounts: [hot()] })
    const paid = ofVault.filter(({ prioritizationFee }) => prioritizationFee > 0)
    expect(paid).toEqual([{ slot: found?.slot, prioritizationFee: 2_000_000 }])
    const ofOther = await bed.connection.getRecentPrioritizationFees({
      lockedWritableAccounts: [hot(), Keypair.generate().publicKey],
    })
    expect(ofOther.every(({ prioritizationFee }) => prioritizationFee === 0)).toBe(true)
  })

  test('what a transaction would use that nobody has signed, and why it would fail', async () => {
    const message = (amount: bigint) =>
      new VersionedTransaction(
        new TransactionMessage({
          payerKey: bed.user.publicKey,
          recentBlockhash: PublicKey.default.toBase58(),
          instructions: [depositNative(bed.depository, { sender: bed.user.publicKey, amount, id })],
        }).compileToV0Message(),
      )
    const asked = { sigVerify: false, replaceRecentBlockhash: true } as const
    const { value: fine } = await bed.connection.simulateTransaction(message(7n), asked)
    expect(fine.err).toBeNull()
    expect(fine.unitsConsumed).toBeGreaterThan(3_000)
    const { value: broke } = await bed.connection.simulateTransaction(message(10n ** 15n), asked)
    expect(broke.err).toEqual({ InstructionError: [0, { Custom: 1 }] })
    await expect(bed.send([deposit()], { signers: [Keypair.generate(), bed.user] })).rejects.toThrow()
  })

  test('that a transaction has reached its commitment, by websocket', async () => {
    const connection = new Connection(bed.url, {
      commitment: 'confirmed',
      wsEndpoint: bed.url.replace('http', 'ws'),
    })
    const latest = await connection.getLatestBlockhash()
    bed.node.hold()
    const signature = await bed.send([memo('hello')])
    const confirmed = await connection.confirmTransaction({ signature, ...latest }, 'confirmed')
    expect(confirmed.value.err).toBeNull()
    let isFinal = false
    const final = connection.confirmTransaction({ signature, ...latest }, 'finalized').then((seen) => {
      isFinal = true
      return seen
    })
    await connection.getSlot()
    expect(isFinal).toBe(false)
    bed.node.finalize()
    expect((await final).value.err).toBeNull()
    // It has no method that ends its socket, and would look for the server for ever.
    closable.parse(Reflect.get(connection, '_rpcWebSocket')).close()
  })

  test('the transactions that name an account, with what their memos say', async () => {
    const payer = Keypair.generate()
    bed.node.airdrop(payer.publicKey.toBase58(), 10n ** 9n)
    const first = await bed.send([memo('one')], { signers: [payer] })
    const second = await bed.send([memo('two'), memo('three')], { signers: [payer] })
    const all = await bed.connection.getSignaturesForAddress(payer.publicKey)
    expect(all.map(({ signature, memo: said }) => [signature, said])).toEqual([
      [second, '[3] two; [5] three'],
      [first, '[3] one'],
    ])
    const older = await bed.connection.getSignaturesForAddress(payer.publicKey, { before: second, limit: 1 })
    expect(older.map(({ signature }) => signature)).toEqual([first])
  })
})

describe('the client is refused', () => {
  test('a transaction that fails in simulation, which is not kept', async () => {
    const transfer = SystemProgram.transfer({
      fromPubkey: bed.user.publicKey,
      toPubkey: bed.recipient,
      lamports: 10 ** 15,
    })
    const slot = bed.node.slot('processed')
    await expect(bed.send([transfer])).rejects.toThrow(/simulation failed/i)
    expect(bed.node.slot('processed')).toBe(slot)
  })

  test('a transaction of version 0 that it does not announce to read', async () => {
    const signature = await bed.send([memo('hello')])
    await expect(bed.connection.getTransaction(signature, { commitment: 'finalized' })).rejects.toThrow(
      /version/,
    )
  })

  test('the block of a skipped slot and one that is not final', async () => {
    bed.node.skipSlot()
    const skipped = Number(bed.node.slot('finalized')) - 1
    const options = { transactionDetails: 'none', rewards: false, ...anyVersion } as const
    await expect(bed.connection.getBlock(skipped, options)).rejects.toThrow(/skipped/)
    await expect(bed.connection.getBlock(skipped + 9, options)).rejects.toThrow(/not available/)
  })

  test('state at a slot that is not reached', async () => {
    const minContextSlot = Number(bed.node.slot('finalized')) + 1
    await expect(bed.connection.getAccountInfo(bed.recipient, { minContextSlot })).rejects.toThrow(
      /context slot/,
    )
  })
})

describe('a vault without an account of the mint', () => {
  test.each([
    ['SPL Token', () => bed.mint, tokenProgram],
    ['Token-2022', () => bed.feeMint, token2022Program],
  ])('gets one, paid by the sender, whoever pays the fee: %s', async (_what, mintOf, program) => {
    const [mint, empty, payer] = [mintOf(), bed.deployDepository(), Keypair.generate()]
    bed.node.airdrop(payer.publicKey.toBase58(), 10n ** 9n)
    const vaultAccount = tokenAccount(new PublicKey(empty.addresses.vault), mint, program)
    const token = depositToken(empty, { sender: bed.user.publicKey, mint, amount: 500n, id, program })
    const before = await bed.connection.getBalance(bed.user.publicKey)
    await bed.send([token], { signers: [payer, bed.user] })
    const bytes = (await bed.connection.getAccountInfo(vaultAccount))?.data.length ?? 0
    expect(before - (await bed.connection.getBalance(bed.user.publicKey))).toBe(
      await bed.connection.getMinimumBalanceForRentExemption(bytes),
    )
    expect(await bed.connection.getBalance(payer.publicKey)).toBe(10 ** 9 - 10_000)
  })
})

describe('the depository refuses', () => {
  test('to deposit into a vault that is not its own', async () => {
    const other = bed.deployDepository()
    const wrong = depositNative(
      { ...other, program: bed.depository.program },
      { sender: bed.user.publicKey, amount: 7n, id },
    )
    await expect(bed.send([wrong])).rejects.toThrow(/simulation failed/i)
  })

  test('a deposit where it was never initialised', async () => {
    const [state] = PublicKey.findProgramAddressSync(
      [Buffer.from('relay_depository')],
      bed.depository.program,
    )
    const { keys, ...rest } = deposit()
    const other = keys.map((key) =>
      key.pubkey.equals(state) ? { ...key, pubkey: Keypair.generate().publicKey } : key,
    )
    await expect(bed.send([{ ...rest, keys: other }])).rejects.toThrow(/simulation failed/i)
  })

  test("tokens of an account that is not the sender's own of that mint", async () => {
    const amount = { sender: bed.user.publicKey, mint: bed.mint, amount: 5n, id }
    const { keys, ...rest } = depositToken(bed.depository, amount)
    const theirs = tokenAccount(bed.recipient, bed.mint)
    const other = keys.map((key, at) => (at === 5 ? { ...key, pubkey: theirs } : key))
    await expect(bed.send([{ ...rest, keys: other }])).rejects.toThrow(/simulation failed/i)
  })

  test('an instruction that it does not know', async () => {
    const unknown = { ...deposit(), data: Buffer.alloc(48, 1) }
    await expect(bed.send([unknown])).rejects.toThrow(/simulation failed/i)
    expect(PublicKey.isOnCurve(new PublicKey(bed.depository.addresses.vault).toBytes())).toBe(false)
  })
})
