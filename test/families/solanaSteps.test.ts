// Goal: the steps of a Solana origin run as they are quoted: what they move, who pays for what, within the units that
// were priced, and the deposit is found. Method: the steps of core, compiled and signed as the public client does, on
// the real runtime with a local depository; the reader reads them over HTTP.
import type { Hex } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import { type OriginRoute, SolanaFees, solanaQuoting, token2022Program } from '@causeway/families/rules'
import { tokenAccount } from '@causeway/localnet/standIns/solana'
import {
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { aSignal, readerOf, type SolanaBed, startSolanaBed } from './solanaSupport/solanaBed.ts'

const orderId: Hex = `0x${'ab'.repeat(32)}`
const fees = new SolanaFees({
  lamportsPerSignature: 5_000n,
  microLamportsPerUnit: 100_000n,
  rentLamportsPerByte: 6_960n,
})
const amount = 40_000n
let bed: SolanaBed

beforeAll(async () => {
  bed = await startSolanaBed()
})
afterAll(() => bed?.stop())

const stepSchema = z.object({
  instructions: z.array(
    z.object({
      keys: z.array(z.object({ pubkey: z.string(), isSigner: z.boolean(), isWritable: z.boolean() })),
      programId: z.string(),
      data: z.string(),
    }),
  ),
})

type Pays = 'SOL' | 'SPL Token' | 'Token-2022'

function quoted(pays: Pays, depositFeePayer?: string) {
  const { depository, user, mint, feeMint } = bed
  const quoting = solanaQuoting.bind({
    chainId: 792_703_809,
    codec: solanaCodec,
    depository: depository.program.toBase58(),
  })
  const currency = {
    SOL: { address: solanaCodec.nativeCurrency, isNative: true, resetsAllowance: false },
    'SPL Token': { address: mint.toBase58(), isNative: false, resetsAllowance: false },
    'Token-2022': {
      address: feeMint.toBase58(),
      isNative: false,
      resetsAllowance: false,
      tokenProgram: token2022Program,
    },
  }[pays]
  const route: OriginRoute = {
    user: user.publicKey.toBase58(),
    recipient: '0x',
    by: 'deposit',
    depositFeePayer,
    currencyIn: currency,
    currencyOut: currency,
    swap: undefined,
    amountIn: amount,
    amountInMax: amount,
    amountOut: 1n,
    amountOutMin: 1n,
    deposited: { currency, amount },
  }
  const [planned] = quoting.plan(route, { allowance: undefined })
  if (planned === undefined) throw new Error('nothing is planned')
  const identity = { requestId: orderId, orderId, deadlineSeconds: 0, depositAddress: undefined }
  const { instructions } = stepSchema.parse(quoting.encode(planned, route, { identity, fees }).data)
  return { planned, instructions: instructions.map(toInstruction) }
}

const toInstruction = ({ keys, programId, data }: z.infer<typeof stepSchema>['instructions'][number]) =>
  new TransactionInstruction({
    keys: keys.map((key) => ({ ...key, pubkey: new PublicKey(key.pubkey) })),
    programId: new PublicKey(programId),
    data: Buffer.from(data, 'hex'),
  })

const lamportsOf = async (key: PublicKey) => BigInt(await bed.connection.getBalance(key))
const found = (signature: string) =>
  bed.connection.getTransaction(signature, { commitment: 'finalized', maxSupportedTransactionVersion: 0 })

describe('a deposit', () => {
  test.each<[Pays, bigint]>([
    ['SOL', amount],
    ['SPL Token', amount],
    ['Token-2022', (amount * 99n) / 100n],
  ])('of %s costs its user the quoted fee, stays within its units, and is attested', async (pays, gained) => {
    const { planned, instructions } = quoted(pays)
    const before = await lamportsOf(bed.user.publicKey)
    const signature = await bed.send(instructions)
    const paid = before - (await lamportsOf(bed.user.publicKey))
    expect(paid).toBe(fees.costOf(planned) + (pays === 'SOL' ? amount : 0n))
    const used = BigInt((await found(signature))?.meta?.computeUnitsConsumed ?? 0)
    expect(used).toBeGreaterThan(0n)
    expect(used * 2n).toBeLessThan(fees.unitsOf(planned))
    const { deposits } = await readerOf(bed).reader.readDeposits({ transactionId: signature }, aSignal())
    expect(deposits).toMatchObject([
      { depositId: orderId, depositor: bed.user.publicKey.toBase58(), amount: gained },
    ])
  })

  test('whose fee somebody else pays costs the user what he deposits alone', async () => {
    const payer = Keypair.generate()
    bed.node.airdrop(payer.publicKey.toBase58(), 10n ** 9n)
    const { planned, instructions } = quoted('SOL', payer.publicKey.toBase58())
    const before = await lamportsOf(bed.user.publicKey)
    await bed.send(instructions, { signers: [payer, bed.user] })
    expect(before - (await lamportsOf(bed.user.publicKey))).toBe(amount)
    expect(10n ** 9n - (await lamportsOf(payer.publicKey))).toBe(fees.costOf(planned))
  })

  test.each<[Pays, () => PublicKey, string | undefined]>([
    ['SPL Token', () => bed.mint, undefined],
    ['Token-2022', () => bed.feeMint, token2022Program],
  ])(
    'of %s into a vault that never held it: the payer pays for the account, the user nothing',
    async (pays, mintOf, program) => {
      const payer = Keypair.generate()
      bed.node.airdrop(payer.publicKey.toBase58(), 10n ** 9n)
      const fresh = bed.deployDepository()
      const usual = bed
      bed = { ...usual, depository: fresh }
      try {
        const { planned, instructions } = quoted(pays, payer.publicKey.toBase58())
        const account = tokenAccount(new PublicKey(fresh.addresses.vault), mintOf(), program)
        const before = await lamportsOf(bed.user.publicKey)
        await bed.send(instructions, { signers: [payer, bed.user] })
        expect(await lamportsOf(bed.user.publicKey)).toBe(before)
        const stateBytes = (await bed.connection.getAccountInfo(account))?.data.length ?? 0
        const cost = fees.costOf(planned) + fees.rentOf({ stateBytes })
        expect(10n ** 9n - (await lamportsOf(payer.publicKey))).toBe(cost)
      } finally {
        bed = usual
      }
    },
  )
})

// Goal of an attacker, as the user of an integrator who pays fees: turn an unsigned message into another one for the
// same payer.
describe('the signatures of a deposit that somebody else pays for', () => {
  async function messageOf(payer: Keypair, instructions: readonly TransactionInstruction[]) {
    const { blockhash } = await bed.connection.getLatestBlockhash()
    return new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: blockhash,
      instructions: [...instructions],
    }).compileToV0Message()
  }
  const send = (transaction: VersionedTransaction) =>
    bed.connection.sendRawTransaction(transaction.serialize(), { maxRetries: 0 })

  test('the payer first, over what he has looked at: nobody changes it afterwards', async () => {
    const payer = Keypair.generate()
    bed.node.airdrop(payer.publicKey.toBase58(), 10n ** 9n)
    const { instructions } = quoted('SOL', payer.publicKey.toBase58())
    const signed = new VersionedTransaction(await messageOf(payer, instructions))
    signed.sign([payer])
    const [theft] = thefts(payer)
    const changed = new VersionedTransaction(await messageOf(payer, [...instructions, theft]))
    changed.sign([bed.user])
    changed.signatures[0] = signed.signatures[0] ?? new Uint8Array(64)
    await expect(send(changed)).rejects.toThrow()
    expect(await lamportsOf(payer.publicKey)).toBe(10n ** 9n)
    signed.sign([bed.user])
    await send(signed)
  })

  test('the user first, on a message of his own making: a payer who signs what he is handed pays it', async () => {
    const payer = Keypair.generate()
    bed.node.airdrop(payer.publicKey.toBase58(), 10n ** 9n)
    const { instructions } = quoted('SOL', payer.publicKey.toBase58())
    const [theft] = thefts(payer)
    const handed = new VersionedTransaction(await messageOf(payer, [...instructions, theft]))
    handed.sign([bed.user])
    handed.sign([payer])
    await send(handed)
    expect(await lamportsOf(payer.publicKey)).toBeLessThan(2n * 10n ** 8n)
  })

  /** Nine tenths of what the payer has. */
  function thefts(payer: Keypair): readonly [TransactionInstruction] {
    const lamports = Buffer.alloc(8)
    lamports.writeBigUInt64LE(9n * 10n ** 8n)
    return [
      new TransactionInstruction({
        programId: new PublicKey('1'.repeat(32)),
        keys: [
          { pubkey: payer.publicKey, isSigner: true, isWritable: true },
          { pubkey: bed.user.publicKey, isSigner: false, isWritable: true },
        ],
        data: Buffer.concat([Buffer.from([2, 0, 0, 0]), lamports]),
      }),
    ]
  }
})
