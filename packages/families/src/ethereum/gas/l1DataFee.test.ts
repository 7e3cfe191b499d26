import { deflateRawSync } from 'node:zlib'
import { MalformedAnswerError } from '@causeway/rpc'
import { decodeFunctionData, encodeFunctionResult, parseAbi, parseTransaction } from 'viem'
import { describe, expect, test } from 'vitest'
import { l1DataFeeCalls, readL1DataFees } from './l1DataFee.ts'
import { probeCalldata } from './probeTransaction.ts'

const abi = parseAbi([
  'function getL1Fee(bytes unsignedTransaction) view returns (uint256)',
  'function getOperatorFee(uint256 gasUsed) view returns (uint256)',
])
const gasPriceOracle = '0x420000000000000000000000000000000000000f'
const shape = { calldata: probeCalldata(['address', 'amount']), valueWei: 3n, gasUnits: 65_000n }
const uint = (value: bigint) => ({
  success: true,
  returnData: encodeFunctionResult({ abi, functionName: 'getL1Fee', result: value }),
})

describe('l1DataFeeCalls', () => {
  const [l1Fee, operatorFee] = l1DataFeeCalls({ chainId: 8453, gasPriceOracle, shapes: [shape] })

  test('ask for the fee of an unsigned transaction of the shape', () => {
    const { functionName, args } = decodeFunctionData({ abi, data: l1Fee?.callData ?? '0x' })
    expect(functionName).toBe('getL1Fee')
    // CAST: getL1Fee takes the bytes of an unsigned EIP-1559 transaction.
    const transaction = parseTransaction(args[0] as `0x02${string}`)
    expect(transaction).toMatchObject({ chainId: 8453, data: shape.calldata, value: 3n, gas: 65_000n })
    expect(transaction).not.toHaveProperty('r')
  })

  test('ask for the operator fee of the gas of the shape', () => {
    expect(decodeFunctionData({ abi, data: operatorFee?.callData ?? '0x' })).toEqual({
      functionName: 'getOperatorFee',
      args: [65_000n],
    })
  })
})

describe('readL1DataFees', () => {
  const reverted = { success: false, returnData: '0x' } as const

  test('adds both fees per shape, in order', () => {
    expect(readL1DataFees([uint(10n), uint(1n), uint(20n), uint(2n)])).toEqual([11n, 22n])
  })

  test.each([
    ['reverts', reverted],
    ['is not there', { success: true, returnData: '0x' } as const],
  ])('counts an operator fee that %s as zero and keeps the data fee', (_name, operatorFee) => {
    expect(readL1DataFees([uint(10n), operatorFee])).toEqual([10n])
  })

  test.each([
    ['reverts', reverted],
    ['is not there', { success: true, returnData: '0x' } as const],
  ])('refuses to guess when the data fee %s', (_name, l1Fee) => {
    expect(() => readL1DataFees([l1Fee, uint(1n)])).toThrow(MalformedAnswerError)
  })
})

describe('probeCalldata', () => {
  test('has a selector and a word per argument, the same every time', () => {
    const args = ['address', 'amount', 'hash'] as const
    expect(probeCalldata(args)).toBe(probeCalldata(args))
    expect((probeCalldata(args).length - 2) / 2).toBe(4 + 3 * 32)
    expect(probeCalldata([])).toHaveLength(10)
  })

  test('cannot be compressed below its random parts', () => {
    const calldata = Buffer.from(
      probeCalldata(Array.from({ length: 10 }, () => 'hash' as const)).slice(2),
      'hex',
    )
    expect(deflateRawSync(calldata).length).toBeGreaterThanOrEqual(calldata.length)
  })
})
