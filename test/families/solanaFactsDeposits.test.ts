// Goal: the deposits of a Solana transaction are exactly those the protocol counts. Method: a depository
// program and the real token programs run on the real runtime (LiteSVM); the reader reads over HTTP.
// @source rules P-127, F-139
import type { Hex } from '@causeway/core'
import { token2022Program } from '@causeway/families/rules'
import {
  depositNative,
  depositToken,
  forwardInstruction,
  memo,
  tokenAccount,
  transfer,
  transferChecked,
} from '@causeway/localnet/standIns/solana'
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aSignal,
  readerOf,
  type SendOptions,
  type SolanaBed,
  startSolanaBed,
} from './solanaSupport/solanaBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const otherId: Hex = `0x${'cd'.repeat(32)}`
const noOrder: Hex = `0x${'00'.repeat(32)}`
const sol = '1'.repeat(32)

let bed: SolanaBed
let sender: PublicKey
let vault: PublicKey

beforeAll(async () => {
  bed = await startSolanaBed()
  sender = bed.user.publicKey
  vault = new PublicKey(bed.depository.addresses.vault)
})
afterAll(() => bed?.stop())

const native = (amount: bigint, depositId = id, depositor?: PublicKey) =>
  depositNative(bed.depository, { sender, amount, id: depositId, ...(depositor && { depositor }) })
const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 400_000 })
const toVault = (lamports: number) =>
  SystemProgram.transfer({ fromPubkey: sender, toPubkey: vault, lamports })

async function depositsOf(instructions: readonly TransactionInstruction[], options: SendOptions = {}) {
  const transactionId = await bed.send(instructions, options)
  const { deposits } = await readerOf(bed).reader.readDeposits({ transactionId }, aSignal())
  return deposits
}
const fact = (fields: object) => ({
  depository: bed.depository.program.toBase58(),
  depositId: id,
  depositor: sender.toBase58(),
  ...fields,
})

describe('a deposit instruction', () => {
  test.each(['legacy', 0] as const)('of SOL is one deposit, in a message of version %s', async (version) => {
    expect(await depositsOf([native(7n)], { version })).toEqual([
      fact({ onchainIndex: '0', currency: sol, amount: 7n }),
    ])
  })

  test('F-139: of a token names mint and amount', async () => {
    const { mint } = bed
    const instruction = depositToken(bed.depository, { sender, mint, amount: 5n, id })
    expect(await depositsOf([limit, instruction])).toEqual([
      fact({ onchainIndex: '1', currency: mint.toBase58(), amount: 5n }),
    ])
  })

  test('F-139: of a Token-2022 mint with a fee is what the vault gained', async () => {
    const ofFeeMint = (amount: bigint) =>
      depositToken(bed.depository, {
        sender,
        mint: bed.feeMint,
        amount,
        id,
        program: token2022Program,
      })
    expect(await depositsOf([limit, ofFeeMint(1_000n)])).toMatchObject([{ amount: 990n }])
    expect(await depositsOf([ofFeeMint(1_000n), ofFeeMint(2_000n)])).toMatchObject([
      { amount: 990n },
      { amount: 1_980n },
    ])
  })

  test('belongs to the depositor it names, not to who pays', async () => {
    const depositor = Keypair.generate().publicKey
    expect(await depositsOf([native(7n, id, depositor)])).toMatchObject([{ depositor: depositor.toBase58() }])
  })

  test('without an order has the zero id', async () => {
    expect(await depositsOf([native(7n, noOrder)])).toMatchObject([{ depositId: noOrder }])
  })

  test('with bytes behind its arguments is the same deposit', async () => {
    const tail = new Uint8Array(20).fill(9)
    const instruction = depositNative(bed.depository, { sender, amount: 7n, id, tail })
    expect(await depositsOf([instruction])).toMatchObject([{ amount: 7n, depositId: id }])
  })

  test('of the largest amount that the account holds is read exactly', async () => {
    const rich = Keypair.generate()
    const amount = 2n ** 60n + 1n
    bed.node.airdrop(rich.publicKey.toBase58(), amount + 10n ** 9n)
    const instruction = depositNative(bed.depository, { sender: rich.publicKey, amount, id })
    expect(await depositsOf([instruction], { signers: [rich] })).toMatchObject([{ amount }])
  })

  test('stands with others in one transaction, each at its own position', async () => {
    expect(
      await depositsOf([native(1n), limit, native(2n, otherId), memo('hello'), native(3n)]),
    ).toMatchObject([
      { onchainIndex: '0', amount: 1n, depositId: id },
      { onchainIndex: '2', amount: 2n, depositId: otherId },
      { onchainIndex: '4', amount: 3n, depositId: id },
    ])
  })

  test('called by another program counts behind all top-level instructions', async () => {
    const inner = forwardInstruction(bed.forwarder, native(4n))
    // Inner list: the deposit, then the transfer it makes.
    expect(await depositsOf([inner, native(5n, otherId)])).toMatchObject([
      { onchainIndex: '1', amount: 5n, depositId: otherId },
      { onchainIndex: '2', amount: 4n, depositId: id },
    ])
  })

  test('called by others twice counts twice, at the positions of the flattened list', async () => {
    const deposits = await depositsOf([
      forwardInstruction(bed.forwarder, native(4n)),
      forwardInstruction(bed.forwarder, native(6n)),
    ])
    expect(deposits).toMatchObject([
      { onchainIndex: '2', amount: 4n },
      { onchainIndex: '4', amount: 6n },
    ])
  })

  test('whose accounts come from a lookup table is read like any other', async () => {
    const deposit = depositToken(bed.depository, { sender, mint: bed.mint, amount: 5n, id })
    const table = await createTable(
      deposit.keys.filter(({ isSigner }) => !isSigner).map(({ pubkey }) => pubkey),
    )
    expect(await depositsOf([limit, deposit], { tables: [table] })).toEqual([
      fact({ onchainIndex: '1', currency: bed.mint.toBase58(), amount: 5n }),
    ])
    const inner = forwardInstruction(bed.forwarder, deposit)
    expect(await depositsOf([limit, inner], { tables: [table] })).toMatchObject([{ amount: 5n }])
  })

  test('makes a plain transfer beside it no deposit', async () => {
    expect(await depositsOf([native(1n), toVault(9)])).toMatchObject([{ amount: 1n }])
  })
})

/** A table with these addresses, warmed up. */
async function createTable(addresses: readonly PublicKey[]): Promise<AddressLookupTableAccount> {
  bed.node.mine(1)
  const recentSlot = Number(bed.node.slot('finalized')) - 1
  const [create, key] = AddressLookupTableProgram.createLookupTable({
    authority: sender,
    payer: sender,
    recentSlot,
  })
  const extend = AddressLookupTableProgram.extendLookupTable({
    payer: sender,
    authority: sender,
    lookupTable: key,
    addresses: [...addresses],
  })
  await bed.send([create, extend])
  bed.node.mine(1)
  const account = bed.node.account(key.toBase58(), 'finalized')
  if (account === undefined) throw new Error('no lookup table')
  return new AddressLookupTableAccount({ key, state: AddressLookupTableAccount.deserialize(account.data) })
}

describe('a plain transfer into the vault', () => {
  const direct = { onchainIndex: '0', depositId: noOrder }
  const spl = (mint: PublicKey, amount: bigint, program?: string) => ({
    from: tokenAccount(sender, mint, program),
    to: tokenAccount(vault, mint, program),
    authority: sender,
    mint,
    amount,
    ...(program !== undefined && { program }),
  })

  test('F-139: of SOL is a deposit without an order', async () => {
    expect(await depositsOf([toVault(9)])).toEqual([fact({ ...direct, currency: sol, amount: 9n })])
  })

  test('counts with any compute budget around it, at index 0', async () => {
    const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 })
    expect(await depositsOf([limit, price, toVault(9)])).toEqual([
      fact({ ...direct, currency: sol, amount: 9n }),
    ])
  })

  test('of a token without naming the mint is a deposit of what the vault holds there', async () => {
    expect(await depositsOf([transfer(spl(bed.mint, 8n))])).toEqual([
      fact({ ...direct, currency: bed.mint.toBase58(), amount: 8n }),
    ])
  })

  test('of a token with a check is a deposit', async () => {
    expect(await depositsOf([limit, transferChecked(spl(bed.mint, 8n))])).toEqual([
      fact({ ...direct, currency: bed.mint.toBase58(), amount: 8n }),
    ])
  })

  test('of a Token-2022 mint with a fee counts what the vault gained', async () => {
    expect(await depositsOf([transferChecked(spl(bed.feeMint, 1_000n, token2022Program))])).toMatchObject([
      { currency: bed.feeMint.toBase58(), amount: 990n },
    ])
  })

  test.each<
    readonly [string, () => readonly TransactionInstruction[] | Promise<readonly TransactionInstruction[]>]
  >([
    ['beside a memo', () => [toVault(9), memo('hello')]],
    ['made twice', () => [toVault(9), toVault(8)]],
    ['made by a program', () => [forwardInstruction(bed.forwarder, toVault(9))]],
    [
      'to somebody else',
      () => [SystemProgram.transfer({ fromPubkey: sender, toPubkey: bed.recipient, lamports: 9 })],
    ],
    [
      'of a token to another owner',
      () => [transfer({ ...spl(bed.mint, 8n), to: tokenAccount(bed.recipient, bed.mint) })],
    ],
    ['from an account that another key names by a seed', async () => [await transferWithSeed()]],
  ])('%s is none', async (_name, instructions) => {
    expect(await depositsOf(await instructions())).toEqual([])
  })

  test('of a token into an account of the vault that is not its associated one is none', async () => {
    const holder = Keypair.generate()
    const space = 165
    const creation = SystemProgram.createAccount({
      fromPubkey: sender,
      newAccountPubkey: holder.publicKey,
      space,
      lamports: Number(bed.node.rentExemption(space)),
      programId: new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
    })
    const initialise: TransactionInstruction = {
      ...transfer(spl(bed.mint, 1n)),
      keys: [
        { pubkey: holder.publicKey, isSigner: false, isWritable: true },
        { pubkey: bed.mint, isSigner: false, isWritable: false },
      ],
      data: Buffer.concat([Buffer.of(18), vault.toBytes()]),
    }
    await bed.send([creation, initialise], { signers: [bed.user, holder] })
    expect(await depositsOf([transfer({ ...spl(bed.mint, 8n), to: holder.publicKey })])).toEqual([])
  })
})

describe('there is no deposit', () => {
  test('in a transaction without instructions', async () => {
    expect(await depositsOf([])).toEqual([])
  })

  test('in calls of another program with the same instruction', async () => {
    const other = bed.deployDepository()
    expect(await depositsOf([depositNative(other, { sender, amount: 7n, id })])).toEqual([])
  })

  test('in a failed transaction, which is refused', async () => {
    const transactionId = await bed.send([native(10n ** 15n)], { skipPreflight: true })
    await expect(readerOf(bed).reader.readDeposits({ transactionId }, aSignal())).rejects.toMatchObject({
      code: 'TRANSACTION_REVERTED',
      kind: 'invalid_request',
    })
  })
})

/** Not the transfer that counts as a deposit, though it moves SOL into the vault. */
async function transferWithSeed(): Promise<TransactionInstruction> {
  const { programId } = SystemProgram
  const derived = await PublicKey.createWithSeed(sender, 'seed', programId)
  bed.node.airdrop(derived.toBase58(), 10n ** 9n)
  return SystemProgram.transfer({
    fromPubkey: derived,
    basePubkey: sender,
    toPubkey: vault,
    lamports: 9,
    seed: 'seed',
    programId,
  })
}
