// Goal: the local cluster speaks Solana's protocol, so that what is proven on it holds on a real one. Method:
// the public client library sends to it and checks every answer against its own schemas.
import type { Hex } from '@causeway/core'
import { depositNative, depositToken, forwarded, memo } from '@causeway/localnet/standIns/solana'
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type SolanaBed, startSolanaBed } from './solanaSupport/solanaBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const anyVersion = { commitment: 'finalized', maxSupportedTransactionVersion: 0 } as const

let bed: SolanaBed
beforeAll(async () => {
  bed = await startSolanaBed()
})
afterAll(() => bed?.stop())
beforeEach(() => bed.node.finalize())

const deposit = () => depositNative(bed.depository, { sender: bed.user.publicKey, amount: 7n, id })

describe('the client accepts', () => {
  test.each(['legacy', 0] as const)(
    'a transaction of version %s with all that its run added',
    async (version) => {
      const token = depositToken(bed.depository, {
        sender: bed.user.publicKey,
        mint: bed.mint,
        amount: 5n,
        id,
      })
      const signature = await bed.send([forwarded(bed.forwarder, deposit()), token, memo('hello')], {
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

describe('the depository refuses', () => {
  test('to deposit into a vault that is not its own', async () => {
    const other = await bed.deployDepository()
    const wrong = depositNative(
      { ...other, program: bed.depository.program },
      { sender: bed.user.publicKey, amount: 7n, id },
    )
    await expect(bed.send([wrong])).rejects.toThrow(/simulation failed/i)
  })

  test('an instruction that it does not know', async () => {
    const unknown = { ...deposit(), data: Buffer.alloc(48, 1) }
    await expect(bed.send([unknown])).rejects.toThrow(/simulation failed/i)
    expect(PublicKey.isOnCurve(new PublicKey(bed.depository.addresses.vault).toBytes())).toBe(false)
  })
})
