// Goal: the data fee of Arbitrum chains is what Nitro charges for the bytes of a transaction, never a guess.
// Attack: a precompile that does not answer, or answers too little, must not make data free.
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { MalformedAnswerError } from '@causeway/rpc'
import { encodeFunctionResult, type Hex, parseAbi, serializeTransaction } from 'viem'
import { describe, expect, test } from 'vitest'
import { planDataFees } from './dataFees.ts'
import { probeCalldata, probeTransaction } from './probeTransaction.ts'

const gasPriceOracle = '0x000000000000000000000000000000000000006c'
const abi = parseAbi([
  'function getPricesInWei() view returns (uint256, uint256, uint256, uint256, uint256, uint256)',
])
const light = { calldata: '0x', valueWei: 10n ** 18n, gasUnits: 21_000n } as const
const heavy = {
  calldata: probeCalldata(Array.from({ length: 8 }, () => 'hash' as const)),
  valueWei: 0n,
  gasUnits: 100_000n,
}
const chainId = 42_161
const planned = planDataFees({
  chainId,
  feeModel: { kind: 'arbitrum', gasPriceOracle },
  shapes: [light, heavy],
})
const prices = (perByteWei: bigint) => ({
  success: true,
  returnData: encodeFunctionResult({
    abi,
    functionName: 'getPricesInWei',
    result: [140n * perByteWei, perByteWei, 9n, 8n, 7n, 6n],
  }),
})

describe('the data fee of an Arbitrum chain', () => {
  test('is read by one call for all shapes, and is taken as gas', () => {
    expect(planned.calls).toEqual([{ target: gasPriceOracle, callData: '0x41b247a8' }])
    expect(planned.isGas).toBe(true)
  })

  test.each([
    ['light', light, 0],
    ['heavy', heavy, 1],
  ] as const)(
    'of a %s transaction is its compressed size, padded as the chain pads',
    (_name, shape, index) => {
      const price = 1_000_000_007n
      const [fee, one] = [price, 1n].map((perByte) => planned.read([prices(perByte)])[index] ?? 0n)
      // An independent way: viem signs the same transaction with a signature that nothing can be saved of.
      const unsigned = probeTransaction({ chainId, ...shape })
      const compressed = brotliCompressSync(Buffer.from(unsigned.slice(2), 'hex'), {
        params: { [constants.BROTLI_PARAM_QUALITY]: 0 },
      })
      expect(brotliDecompressSync(compressed).toString('hex')).toBe(unsigned.slice(2))
      const signatureLength = (signed().length - signed(false).length) / 2
      const bytes = BigInt(compressed.length + signatureLength + 16)
      expect([fee, one]).toEqual([ceil(price * bytes * 101n, 100n), ceil(bytes * 101n, 100n)])
    },
  )

  test('grows with what does not compress, and never above the whole transaction', () => {
    const [small = 0n, large = 0n] = planned.read([prices(100n)])
    expect(large - small).toBeGreaterThan(8n * 32n * 100n)
    const whole = BigInt((probeTransaction({ chainId, ...heavy }).length - 2) / 2)
    expect(large).toBeLessThan((whole + 67n + 16n + 8n) * 101n)
  })

  test('is zero where the chain charges nothing for data', () => {
    expect(planned.read([prices(0n)])).toEqual([0n, 0n])
  })

  test.each([
    ['reverts', [{ success: false, returnData: '0x' as const }]],
    ['is not there', [{ success: true, returnData: '0x' as const }]],
    ['answers one price alone', [{ success: true, returnData: `0x${'00'.repeat(32)}` as const }]],
    ['is not asked', []],
  ])('is refused, not guessed, when the precompile %s', (_name, answers) => {
    expect(() => planned.read(answers)).toThrow(MalformedAnswerError)
  })
})

test('a chain without data fee is asked for none', () => {
  const none = planDataFees({ chainId: 1, feeModel: { kind: 'eip1559', gasPriceOracle }, shapes: [light] })
  expect([none.calls, none.read([]), none.isGas]).toEqual([[], [], false])
})

function signed(isSigned = true): Hex {
  const transaction = { type: 'eip1559', chainId, data: heavy.calldata } as const
  const random = (byte: string): Hex => `0x${byte.repeat(32)}`
  return isSigned
    ? serializeTransaction(transaction, { r: random('9b'), s: random('6a'), yParity: 1 })
    : serializeTransaction(transaction)
}

function ceil(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator
}
