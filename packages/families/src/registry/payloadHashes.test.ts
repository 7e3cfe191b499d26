// Goal: the allocator signs the hashes that each family's depository or network checks, and no others. Method: viem and
// bitcoinjs-lib compute each hash from the payload's members once more. Attacks: a payload of another depository or
// chain whose signature would fit too; bytes that hold more than anybody signs.

import type { Hex } from '@causeway/core'
import { Transaction } from 'bitcoinjs-lib'
import { hashMessage, hashTypedData, sha256 } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  type BitcoinPayload,
  decodeBitcoinPayload,
  encodeBitcoinPayload,
} from '../bitcoin/rules/allocatorPayload.ts'
import { decodeEvmWithdrawal, encodeEvmWithdrawal } from '../ethereum/rules/withdrawal.ts'
import { encodeHyperliquidWithdrawal, type HyperliquidWithdrawal } from '../hyperliquid/rules/withdrawal.ts'
import { encodeLighterWithdrawal, lighterTransferMessage } from '../lighter/rules/withdrawal.ts'
import { encodeSolanaWithdrawal } from '../solana/rules/withdrawal.ts'
import { families } from './families.ts'

const account = (digit: string): Hex => `0x${digit.repeat(40)}`
const depository = account('d')
const payer = { hubChainId: 8_453n, depository }

describe('on EVM chains', () => {
  const call = { to: account('2'), data: '0xabcd', value: 5n, allowFailure: false } as const
  const request = { calls: [call], nonce: 7n, expiration: 9n }

  test('the hash is that of the request in the domain of its depository', () => {
    const digest = hashTypedData({
      domain: { name: 'RelayDepository', version: '1', chainId: 8_453, verifyingContract: depository },
      types: {
        CallRequest: [
          { name: 'calls', type: 'Call[]' },
          { name: 'nonce', type: 'uint256' },
          { name: 'expiration', type: 'uint256' },
        ],
        Call: [
          { name: 'to', type: 'address' },
          { name: 'data', type: 'bytes' },
          { name: 'value', type: 'uint256' },
          { name: 'allowFailure', type: 'bool' },
        ],
      },
      primaryType: 'CallRequest',
      message: request,
    })
    for (const vmType of ['ethereum-vm', 'tron-vm'] as const) {
      const { hashes, additionalData, toWithdrawal } = families[vmType].allocatorPayload
      const payload = encodeEvmWithdrawal(request)
      expect(hashes(payload, payer)).toEqual([digest])
      expect(additionalData(payload)).toBeUndefined()
      expect(toWithdrawal(payload)).toBe(payload)
    }
  })

  test('a request has 32 calls at most', () => {
    const of = (count: number) =>
      encodeEvmWithdrawal({ ...request, calls: Array.from({ length: count }, () => call) })
    expect(decodeEvmWithdrawal(of(32)).calls).toHaveLength(32)
    expect(() => decodeEvmWithdrawal(of(33))).toThrow('call request')
  })
})

test('on Solana the hash is the SHA-256 of the request', () => {
  const payload = encodeSolanaWithdrawal({
    domain: `0x${'01'.repeat(32)}`,
    recipient: '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1',
    token: undefined,
    amount: 5n,
    nonce: 7n,
    expiration: 9n,
    vaultAddress: '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2',
  })
  const { hashes, additionalData, toWithdrawal } = families['solana-vm'].allocatorPayload
  expect(hashes(payload, payer)).toEqual([sha256(payload)])
  expect([additionalData(payload), toWithdrawal(payload)]).toEqual([undefined, payload])
})

describe('on Hyperliquid', () => {
  const send: HyperliquidWithdrawal = {
    type: 'SendAsset',
    hyperliquidChain: 'Mainnet',
    destination: account('2'),
    sourceDex: 'spot',
    destinationDex: 'spot',
    token: 'USDC:0x6d1e7cde53ba9467b783cb7c530ce054',
    amount: '100.0',
    fromSubAccount: '',
    nonce: 5n,
  }
  const dollars: HyperliquidWithdrawal = {
    type: 'UsdSend',
    hyperliquidChain: 'Mainnet',
    destination: account('2'),
    amount: '1.5',
    time: 6n,
  }
  const { hashes, additionalData, toWithdrawal } = families['hyperliquid-vm'].allocatorPayload
  const texts = (names: string) => names.split(' ').map((name) => ({ name, type: 'string' }))
  const domain = {
    name: 'HyperliquidSignTransaction',
    version: '1',
    chainId: 42_161,
    verifyingContract: account('0'),
  }

  function digestOf(
    action: string,
    members: readonly { readonly name: string; readonly type: string }[],
    message: Readonly<Record<string, unknown>>,
  ) {
    const primaryType = `HyperliquidTransaction:${action}`
    return hashTypedData({ domain, types: { [primaryType]: members }, primaryType, message })
  }

  test('the hash is that of the action, as wallets sign it', () => {
    const { type: _type, ...sent } = send
    const { type: _kind, ...usd } = dollars
    expect(hashes(encodeHyperliquidWithdrawal(send), payer)).toEqual([
      digestOf(
        'SendAsset',
        [
          ...texts('hyperliquidChain destination sourceDex destinationDex token amount fromSubAccount'),
          { name: 'nonce', type: 'uint64' },
        ],
        sent,
      ),
    ])
    expect(hashes(encodeHyperliquidWithdrawal(dollars), payer)).toEqual([
      digestOf(
        'UsdSend',
        [...texts('hyperliquidChain destination amount'), { name: 'time', type: 'uint64' }],
        usd,
      ),
    ])
  })

  test('the request names the token by its symbol, dollars by none, and the time', () => {
    const of = (withdrawal: HyperliquidWithdrawal) => additionalData(encodeHyperliquidWithdrawal(withdrawal))
    expect(of(send)).toEqual({ currencyHyperliquidSymbol: 'USDC', currentTime: '5' })
    expect(of(dollars)).toEqual({ currencyHyperliquidSymbol: '', currentTime: '6' })
    expect(toWithdrawal(encodeHyperliquidWithdrawal(send))).toBe(encodeHyperliquidWithdrawal(send))
  })
})

test('on Lighter the hash is that of the text as a personal message, and the request has the other members', () => {
  const transfer = {
    nonce: 9n,
    fromAccountIndex: 7n,
    fromRouteType: 1n,
    apiKeyIndex: 4n,
    toAccountIndex: 8n,
    toRouteType: 2n,
    assetIndex: 3n,
    amount: 5n,
    usdcFee: 6n,
    lighterChainId: 304n,
    memo: `0x${'ab'.repeat(32)}`,
  } as const
  const payload = encodeLighterWithdrawal(transfer)
  const { hashes, additionalData, toWithdrawal } = families['lighter-vm'].allocatorPayload
  expect(hashes(payload, payer)).toEqual([hashMessage(lighterTransferMessage(transfer))])
  expect(additionalData(payload)).toEqual({
    nonce: '9',
    fromRouteType: '1',
    toRouteType: '2',
    apiKeyIndex: '4',
    usdcFee: '6',
    assetIndex: '3',
    memo: transfer.memo,
  })
  expect(toWithdrawal(payload)).toBe(payload)
})

describe('on Bitcoin', () => {
  const script = Uint8Array.from([0x76, 0xa9, 20, ...new Uint8Array(20).fill(5), 0x88, 0xac])
  const input = (byte: number, vout: number) => ({
    txid: byte.toString(16).padStart(2, '0').repeat(32),
    vout,
    spent: { value: 10_000n, script },
  })
  const payload: BitcoinPayload = {
    inputs: [input(1, 258), input(2, 0)],
    outputs: [
      { value: 9_000n, script: Uint8Array.of(0x51) },
      { value: 300n, script },
    ],
  }
  const { hashes, additionalData, difference, toWithdrawal } = families['bitcoin-vm'].allocatorPayload
  const encoded = encodeBitcoinPayload(payload)

  test('there is a hash for each input, over all of the transaction', () => {
    const library = new Transaction()
    library.version = 1
    for (const { txid, vout } of payload.inputs)
      library.addInput(Uint8Array.from(Buffer.from(txid, 'hex')).reverse(), vout, 0xffff_ffff)
    for (const { value, script: paid } of payload.outputs) library.addOutput(paid, value)
    const expected = payload.inputs.map(
      (_input, index) =>
        `0x${Buffer.from(library.hashForSignature(index, script, Transaction.SIGHASH_ALL)).toString('hex')}`,
    )
    expect(hashes(encoded, payer)).toEqual(expected)
  })

  test('the request names the outputs that are spent, and a whole rate for the bytes that the allocator assumes', () => {
    // 2 * 148 + 2 * 34 + 10 bytes, for which 748 satoshi are two each.
    const outputs = [
      { value: 20_000n - 748n - 300n, script },
      { value: 300n, script },
    ]
    const withdrawal = toWithdrawal(encodeBitcoinPayload({ ...payload, outputs }))
    expect(additionalData(withdrawal)).toEqual({
      allocatorUtxos: payload.inputs.map(({ txid, vout }) => ({ txid, vout, value: '10000' })),
      feeRate: '2',
    })
  })

  test.each<[string, Partial<BitcoinPayload>, string | undefined]>([
    ['nothing', {}, undefined],
    ['an input too few', { inputs: payload.inputs.slice(0, 1) }, 'inputs'],
    ['an input too many', { inputs: [...payload.inputs, input(3, 0)] }, 'inputs'],
    ['inputs in another order', { inputs: payload.inputs.toReversed() }, 'inputs'],
    ['another transaction that is spent', { inputs: [input(3, 258), input(2, 0)] }, 'inputs'],
    ['another output of it', { inputs: [input(1, 257), input(2, 0)] }, 'inputs'],
    [
      'another value of it',
      { inputs: [{ ...input(1, 258), spent: { value: 10_001n, script } }, input(2, 0)] },
      'inputs',
    ],
    [
      'another script of it',
      {
        inputs: [{ ...input(1, 258), spent: { value: 10_000n, script: Uint8Array.of(0x51) } }, input(2, 0)],
      },
      'inputs',
    ],
    [
      'the script of an output',
      {
        outputs: [
          { value: 9_000n, script },
          { value: 300n, script },
        ],
      },
      'outputs',
    ],
    [
      'the value of the last output',
      { outputs: [...payload.outputs.slice(0, 1), { value: 301n, script }] },
      'outputs',
    ],
    ['an output too few', { outputs: payload.outputs.slice(0, 1) }, 'outputs'],
    ['an output too many', { outputs: [...payload.outputs, { value: 1n, script }] }, 'outputs'],
    ['outputs in another order', { outputs: payload.outputs.toReversed() }, 'outputs'],
  ])('a caller\u2019s bytes differ in %s', (_what, change, name) => {
    const other = toWithdrawal(encodeBitcoinPayload({ ...payload, ...change }))
    expect(difference(other, encoded)).toBe(name)
  })

  test('a payload has 500 inputs and 16 outputs at most', () => {
    const of = (inputCount: number, outputCount: number) =>
      encodeBitcoinPayload({
        inputs: Array.from({ length: inputCount }, (_, vout) => input(1, vout)),
        outputs: Array.from({ length: outputCount }, () => ({ value: 1n, script })),
      })
    const { inputs, outputs } = decodeBitcoinPayload(of(500, 16))
    expect([inputs.length, outputs.length]).toEqual([500, 16])
    expect(() => decodeBitcoinPayload(of(501, 16))).toThrow('a payload')
    expect(() => decodeBitcoinPayload(of(500, 17))).toThrow('a payload')
  })

  test('is read wholly or refused, whichever word of it is another', () => {
    for (let at = 2; at < encoded.length; at += 64) {
      const word = encoded.slice(at, at + 64)
      for (const other of ['0'.repeat(64), `${'0'.repeat(63)}1`, 'f'.repeat(64)].filter(
        (one) => one !== word,
      )) {
        const damaged: Hex = `0x${encoded.slice(2, at)}${other}${encoded.slice(at + 64)}`
        let read: BitcoinPayload | undefined
        try {
          read = decodeBitcoinPayload(damaged)
        } catch (error) {
          expect(error).toMatchObject({ code: 'INVALID_WITHDRAWAL' })
        }
        if (read !== undefined) expect(encodeBitcoinPayload(read)).toBe(damaged)
      }
    }
  })
})
