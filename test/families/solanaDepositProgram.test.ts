// Goal: what lies at a deposit address on Solana leaves it into the depository for an order that was signed for this very
// address, or back to its depositor, whoever calls the program and whatever accounts he names. Who gains by breaking it:
// whoever has the solver's key, which signs sweeps; a service that was taken over; another depositor; a stranger.
// Method: the program as operators deploy it, a depository and the real token programs run on the real runtime (LiteSVM);
// deposits are read as the oracle reads them; every attack is the honest instruction with one thing changed.

import { hexToBytes } from '@causeway/core'
import {
  closeAddressAccount,
  deriveProgramAddresses,
  libraryInstruction,
  type SolanaAddressProgram,
  solanaDepositAddress,
  sweepAddress,
  token2022Program,
  tokenProgram,
  withdrawAddress,
} from '@causeway/families/rules'
import { createTokenAccount, tokenAccount } from '@causeway/localnet/standIns/solana'
import { ComputeBudgetProgram, Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { orderSigner, signedOrder } from './solanaSupport/depositOrder.ts'
import { payCoin, payToken } from './solanaSupport/plainPayments.ts'
import { aSignal, readerOf, type SolanaBed, startSolanaBed } from './solanaSupport/solanaBed.ts'

/** Numbers of `depositAddresses.c`. */
const errors = {
  badInput: 1,
  wrongAccount: 2,
  notSweeper: 3,
  notDepositor: 4,
  notSigned: 5,
  orderOfAnotherAddress: 6,
  nothingThere: 7,
}

const coin = '1'.repeat(32)
let bed: SolanaBed
let ours: SolanaAddressProgram
const sweeper = Keypair.generate()
const depositor = Keypair.generate()
const stranger = Keypair.generate()
let nonces = 0
const owner = () => depositor.publicKey.toBase58()

beforeAll(async () => {
  bed = await startSolanaBed()
  const program = bed.addressProgram.toBase58()
  ours = {
    program,
    depository: {
      program: bed.depository.program.toBase58(),
      addresses: deriveProgramAddresses(bed.depository.program.toBase58()),
    },
  }
  for (const { publicKey } of [sweeper, depositor, stranger])
    bed.node.airdrop(publicKey.toBase58(), 10n ** 10n)
})
afterAll(() => bed?.stop())

/** An address that nobody has paid. */
function newAddress(changed: Partial<Parameters<typeof solanaDepositAddress>[0]> = {}) {
  nonces += 1
  return solanaDepositAddress(
    {
      orderSigner: orderSigner(),
      sweeper: sweeper.publicKey.toBase58(),
      depositor: depositor.publicKey.toBase58(),
      nonce: `0x${nonces.toString(16).padStart(64, '0')}`,
      ...changed,
    },
    ours,
  )
}

const mintOf = (program: string) => (program === tokenProgram ? bed.mint : bed.feeMint)
const tokenOf = (program: string) => ({ mint: mintOf(program).toBase58(), tokenProgram: program })
const tokenPaid = (program: string) => ({ mint: mintOf(program), program })
const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 300_000 })
const lamportsAt = async (address: string) => BigInt(await bed.connection.getBalance(new PublicKey(address)))

async function tokensOf(owner: string, program: string): Promise<bigint> {
  const account = tokenAccount(new PublicKey(owner), mintOf(program), program)
  const found = await bed.connection.getAccountInfo(account)
  return found?.data.readBigUInt64LE(64) ?? 0n
}

const send = (instruction: TransactionInstruction, signer = sweeper) =>
  bed.send([limit, instruction], { signers: [signer] })

/** The number with which the program refuses an instruction. */
async function refusalOf(instruction: TransactionInstruction, signer = sweeper): Promise<number | string> {
  try {
    await send(instruction, signer)
    return 'done'
  } catch (error) {
    const said = String(error)
    const custom = /custom program error: 0x([0-9a-f]+)/i.exec(said) ?? /"Custom":\s*(\d+)/.exec(said)
    if (custom?.[1] === undefined) return said.slice(0, 200)
    return Number.parseInt(custom[1], said.includes('0x') ? 16 : 10)
  }
}

/** The instruction with one account in the place of another. */
function withAccount(
  instruction: TransactionInstruction,
  at: number,
  other: PublicKey,
): TransactionInstruction {
  const keys = instruction.keys.map((key, index) => (index === at ? { ...key, pubkey: other } : key))
  return new TransactionInstruction({ ...instruction, keys })
}

function withByte(instruction: TransactionInstruction, at: number): TransactionInstruction {
  const data = Buffer.from(instruction.data)
  data.writeUInt8((data.readUInt8(at) + 1) % 256, at)
  return new TransactionInstruction({ ...instruction, data })
}

describe('a sweep', () => {
  test('deposits all SOL for the order, credited to the depositor', async () => {
    const made = newAddress()
    const { orderId, signed } = await signedOrder(made.address, owner())
    await payCoin(bed, made.address, 1_000_000n)
    await payCoin(bed, made.address, 234_567n)
    const transactionId = await send(
      libraryInstruction(sweepAddress(ours, made, { ...signed, token: undefined })),
    )
    const { deposits } = await readerOf(bed).reader.readDeposits({ transactionId }, aSignal())
    expect(deposits).toMatchObject([
      {
        depositId: orderId,
        amount: 1_234_567n,
        currency: coin,
        depositor: depositor.publicKey.toBase58(),
      },
    ])
    expect(await lamportsAt(made.address)).toBe(0n)
  })

  test.each([
    ['a token', tokenProgram, 1_000n, 1_000n],
    ['a token of Token-2022 with a fee, which is taken at each transfer', token2022Program, 990n, 980n],
  ])('deposits all of %s', async (_what, program, arrived, deposited) => {
    const made = newAddress()
    const token = tokenOf(program)
    const { orderId, signed } = await signedOrder(made.address, owner(), { currency: token.mint })
    await payToken(bed, made.address, tokenPaid(program))
    await payCoin(bed, made.address)
    expect(await tokensOf(made.address, program)).toBe(arrived)
    const transactionId = await send(libraryInstruction(sweepAddress(ours, made, { ...signed, token })))
    const { deposits } = await readerOf(bed).reader.readDeposits({ transactionId }, aSignal())
    expect(deposits).toMatchObject([{ depositId: orderId, amount: deposited, currency: token.mint }])
    expect(await tokensOf(made.address, program)).toBe(0n)
    // SOL beside it has a sweep of its own.
    expect(await lamportsAt(made.address)).toBe(1_000_000n)
  })

  test('of an empty address is none', async () => {
    const made = newAddress()
    const { signed } = await signedOrder(made.address, owner())
    const sweep = libraryInstruction(sweepAddress(ours, made, { ...signed, token: undefined }))
    expect(await refusalOf(sweep)).toBe(errors.nothingThere)
    const ofToken = libraryInstruction(sweepAddress(ours, made, { ...signed, token: tokenOf(tokenProgram) }))
    expect(await refusalOf(ofToken)).toBe(errors.nothingThere)
  })
})

describe('whoever has the key of the sweeper', () => {
  test('sweeps for no order that its signer did not sign for this address', async () => {
    const [made, other] = [newAddress(), newAddress()]
    await payCoin(bed, made.address)
    const { signed: honest } = await signedOrder(made.address, owner())
    const sweepOf = (signed: typeof honest) =>
      libraryInstruction(sweepAddress(ours, made, { ...signed, token: undefined }))
    const { signed: forged } = await signedOrder(made.address, owner(), { isForged: true })
    expect(await refusalOf(sweepOf(forged))).toBe(errors.notSigned)
    const { signed: foreign } = await signedOrder(other.address, owner())
    expect(await refusalOf(sweepOf(foreign))).toBe(errors.orderOfAnotherAddress)
    const changed = { ...honest.order, inputs: honest.order.output }
    expect(await refusalOf(sweepOf({ ...honest, order: changed }))).toBe(errors.notSigned)
    const last = sweepOf(honest).data.length - 1
    // Every part of the data counts: action, signer, nonce, each word and the signature.
    for (const at of [0, 1, 21, 53, 85, 117, 149, 170, 181, 213, 245, 277, 300, last])
      expect(await refusalOf(withByte(sweepOf(honest), at)), `byte ${at}`).not.toBe('done')
    expect(await lamportsAt(made.address)).toBe(1_000_000n)
    await send(sweepOf(honest))
    expect(await lamportsAt(made.address)).toBe(0n)
  })

  test('has no other account taken for one that the terms name', async () => {
    const made = newAddress()
    const token = tokenOf(tokenProgram)
    await payCoin(bed, made.address)
    await payToken(bed, made.address, tokenPaid(tokenProgram))
    const { signed } = await signedOrder(made.address, owner())
    const foreign = bed.deployDepository()
    bed.node.airdrop(foreign.addresses.vault, 10n ** 9n)
    const sweeps = [undefined, token].map((one) =>
      libraryInstruction(sweepAddress(ours, made, { ...signed, token: one })),
    )
    for (const sweep of sweeps) {
      for (const at of sweep.keys.keys()) {
        const others = [
          stranger.publicKey,
          bed.forwarder,
          foreign.program,
          new PublicKey(foreign.addresses.vault),
        ]
        for (const other of others) {
          // The mint and the state of a depository are the depository's to judge, which it does.
          if (at === 0) continue
          expect(await refusalOf(withAccount(sweep, at, other)), `account ${at}`).not.toBe('done')
        }
      }
    }
    expect(await lamportsAt(made.address)).toBe(1_000_000n)
    expect(await tokensOf(made.address, tokenProgram)).toBe(1_000n)
  })

  test('gives the address’s signature to no program of his own in the place of the system’s or a token’s', async () => {
    const made = newAddress()
    const token = tokenOf(tokenProgram)
    await payCoin(bed, made.address)
    await payToken(bed, made.address, tokenPaid(tokenProgram))
    const { signed } = await signedOrder(made.address, owner())
    const ofCoin = libraryInstruction(sweepAddress(ours, made, { ...signed, token: undefined }))
    expect(await refusalOf(withAccount(ofCoin, 6, bed.forwarder))).toBe(errors.wrongAccount)
    const ofToken = libraryInstruction(sweepAddress(ours, made, { ...signed, token }))
    for (const at of [6, 10, 11])
      expect(await refusalOf(withAccount(ofToken, at, bed.forwarder)), `account ${at}`).toBe(
        errors.wrongAccount,
      )
    const caller = sweeper.publicKey.toBase58()
    const back = libraryInstruction(withdrawAddress(ours, made, { caller, token: undefined }))
    expect(await refusalOf(withAccount(back, 5, bed.forwarder))).toBe(errors.wrongAccount)
    const backToken = libraryInstruction(withdrawAddress(ours, made, { caller, token }))
    expect(await refusalOf(withAccount(backToken, 9, bed.forwarder))).toBe(errors.wrongAccount)
  })

  test('gives back to the depositor and to nobody else', async () => {
    const made = newAddress()
    const caller = sweeper.publicKey.toBase58()
    const token = tokenOf(tokenProgram)
    await payCoin(bed, made.address)
    await payToken(bed, made.address, tokenPaid(tokenProgram))
    const payer = bed.user.publicKey
    for (const owner of [sweeper.publicKey, depositor.publicKey])
      await bed.send([createTokenAccount({ payer, owner, mint: bed.mint, program: tokenProgram })])
    const coinBack = libraryInstruction(withdrawAddress(ours, made, { caller, token: undefined }))
    const tokenBack = libraryInstruction(withdrawAddress(ours, made, { caller, token }))
    expect(await refusalOf(withAccount(coinBack, 2, sweeper.publicKey))).toBe(errors.wrongAccount)
    const own = tokenAccount(sweeper.publicKey, bed.mint)
    expect(await refusalOf(withAccount(tokenBack, 8, own))).toBe(errors.wrongAccount)
    const before = await lamportsAt(depositor.publicKey.toBase58())
    await send(coinBack)
    await send(tokenBack)
    expect((await lamportsAt(depositor.publicKey.toBase58())) - before).toBe(1_000_000n)
    expect(await tokensOf(depositor.publicKey.toBase58(), tokenProgram)).toBe(1_000n)
  })
})

describe('a depositor', () => {
  test('takes back what lies there alone, and the rent of an account that is empty', async () => {
    const made = newAddress()
    const caller = depositor.publicKey.toBase58()
    const token = tokenOf(token2022Program)
    await payCoin(bed, made.address)
    await payToken(bed, made.address, tokenPaid(token2022Program))
    await bed.send([
      createTokenAccount({
        payer: bed.user.publicKey,
        owner: depositor.publicKey,
        mint: bed.feeMint,
        program: token2022Program,
      }),
    ])
    await send(libraryInstruction(withdrawAddress(ours, made, { caller, token: undefined })), depositor)
    await send(libraryInstruction(withdrawAddress(ours, made, { caller, token })), depositor)
    expect(await lamportsAt(made.address)).toBe(0n)
    expect(await tokensOf(caller, token2022Program)).toBe(980n)
    const emptied = newAddress()
    const plain = tokenOf(tokenProgram)
    await payToken(bed, emptied.address, tokenPaid(tokenProgram))
    const close = libraryInstruction(closeAddressAccount(ours, emptied, { caller, token: plain }))
    expect(await refusalOf(close, depositor)).not.toBe('done')
    const { signed } = await signedOrder(emptied.address, owner(), { currency: plain.mint })
    await send(libraryInstruction(sweepAddress(ours, emptied, { ...signed, token: plain })))
    const before = await lamportsAt(caller)
    await send(close, depositor)
    expect(await lamportsAt(caller)).toBe(before + bed.node.rentExemption(165) - 5_000n)
  })

  test('of another address, and a stranger, takes nothing and sweeps nothing', async () => {
    const made = newAddress()
    await payCoin(bed, made.address)
    await payToken(bed, made.address, tokenPaid(tokenProgram))
    const caller = stranger.publicKey.toBase58()
    const { signed } = await signedOrder(made.address, owner())
    for (const token of [undefined, tokenOf(tokenProgram)]) {
      const back = libraryInstruction(withdrawAddress(ours, made, { caller, token }))
      expect(await refusalOf(back, stranger)).toBe(errors.notDepositor)
      // As if he were the sweeper, the depositor, or both: it is another address then.
      for (const at of [2, 3])
        expect(await refusalOf(withAccount(back, at, stranger.publicKey), stranger)).toBe(errors.wrongAccount)
      const sweep = libraryInstruction(sweepAddress(ours, made, { ...signed, token }))
      expect(await refusalOf(withAccount(sweep, 0, stranger.publicKey), stranger)).toBe(errors.wrongAccount)
    }
    const close = closeAddressAccount(ours, made, { caller, token: tokenOf(tokenProgram) })
    expect(await refusalOf(libraryInstruction(close), stranger)).toBe(errors.notDepositor)
  })

  test('is not named as a signer by anybody else', async () => {
    const made = newAddress()
    await payCoin(bed, made.address)
    const caller = depositor.publicKey.toBase58()
    const honest = libraryInstruction(withdrawAddress(ours, made, { caller, token: undefined }))
    const unsigned = honest.keys.map((key, at) => (at === 0 ? { ...key, isSigner: false } : key))
    const forged = new TransactionInstruction({ ...honest, keys: unsigned })
    expect(await refusalOf(forged, stranger)).toBe(errors.notDepositor)
    const { signed } = await signedOrder(made.address, owner())
    const sweep = libraryInstruction(sweepAddress(ours, made, { ...signed, token: undefined }))
    const keys = sweep.keys.map((key, at) => (at === 0 ? { ...key, isSigner: false } : key))
    expect(await refusalOf(new TransactionInstruction({ ...sweep, keys }), stranger)).toBe(errors.notSweeper)
  })
})

test('an address is another one for each of its terms, for another depository and another program', () => {
  const made = newAddress()
  const { terms } = made
  const key = (byte: string) => new PublicKey(hexToBytes(`0x${byte.repeat(32)}`)).toBase58()
  const others = [
    { ...terms, orderSigner: `0x${'33'.repeat(20)}` as const },
    { ...terms, sweeper: key('34') },
    { ...terms, depositor: key('35') },
    { ...terms, nonce: `0x${'36'.repeat(32)}` as const },
    { ...terms, sweeper: terms.depositor, depositor: terms.sweeper },
  ].map((changed) => solanaDepositAddress(changed, ours).address)
  const elsewhere = solanaDepositAddress(terms, {
    ...ours,
    depository: { ...ours.depository, program: key('37') },
  })
  const byOther = solanaDepositAddress(terms, { ...ours, program: key('38') })
  const all = [made.address, ...others, elsewhere.address, byOther.address]
  expect(new Set(all).size).toBe(8)
  expect(all.every((address) => !PublicKey.isOnCurve(new PublicKey(address).toBytes()))).toBe(true)
})
