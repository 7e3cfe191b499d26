import { TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import { solanaLibrary } from '../library.ts'
import { associatedTokenAccount, deriveProgramAddresses } from '../programAddresses.ts'
import { associatedTokenProgram, memoProgram, systemProgram, tokenProgram } from '../programs.ts'
import { depositCoin, depositToken, libraryInstruction } from './instructions.ts'
import { checkSize, transactionBytes } from './transactionSize.ts'

const { PublicKey } = solanaLibrary()
const payer = 'AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9'
const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const program = '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2'
const memo = (bytes: number) => ({ program: memoProgram, accounts: [], data: Buffer.alloc(bytes, 7) })

function written(bytes: number): number {
  const message = new TransactionMessage({
    payerKey: new PublicKey(payer),
    recentBlockhash: PublicKey.default.toBase58(),
    instructions: [libraryInstruction(memo(bytes))],
  })
  return new VersionedTransaction(message.compileToV0Message()).serialize().length
}

describe('the size of a transaction', () => {
  test.each([0, 1, 127, 128, 129, 500])('with %d bytes of data is what the library writes', (bytes) => {
    expect(transactionBytes(payer, [memo(bytes)])).toBe(written(bytes))
  })

  test('may be what a cluster takes, and not a byte more', () => {
    const besides = written(500) - 500
    expect(() => checkSize(payer, [memo(1_232 - besides)])).not.toThrow()
    expect(() => checkSize(payer, [memo(1_233 - besides)])).toThrow(
      expect.objectContaining({
        code: 'SOLANA_TX_TOO_LARGE',
        kind: 'invalid_request',
        data: { bytes: 1_233, limitBytes: 1_232 },
        message: expect.stringContaining('1233 bytes, 1 more'),
      }),
    )
  })

  test('counts one more byte from 16,384 bytes of data on', () => {
    const sizes = [16_383, 16_384].map((bytes) => transactionBytes(payer, [memo(bytes)]))
    expect((sizes[1] ?? 0) - (sizes[0] ?? 0)).toBe(2)
  })
})

describe('a deposit names its accounts in the order in which the program reads them', () => {
  const addresses = deriveProgramAddresses(program)
  const { state, vault } = addresses
  const deposit = { sender: payer, amount: 1n, orderId: `0x${'3f'.repeat(32)}` } as const

  test('of SOL', () => {
    expect(depositCoin({ program, addresses }, deposit).accounts).toEqual([
      [state, 'read'],
      [payer, 'pays'],
      [payer, 'read'],
      [vault, 'written'],
      [systemProgram, 'read'],
    ])
  })

  test('of a token, credited to another', () => {
    const token = { mint, tokenProgram }
    const credited = { ...deposit, depositor: program }
    expect(depositToken({ program, addresses }, token, credited).accounts).toEqual([
      [state, 'read'],
      [payer, 'pays'],
      [program, 'read'],
      [vault, 'read'],
      [mint, 'read'],
      [associatedTokenAccount(payer, token), 'written'],
      [associatedTokenAccount(vault, token), 'written'],
      [tokenProgram, 'read'],
      [associatedTokenProgram, 'read'],
      [systemProgram, 'read'],
    ])
  })
})
