// Vectors of payloads, and bytes that an attacker would hand in beside them.

import type { Hex } from '@causeway/core'
import {
  bytesToHex,
  derivedHubChainId,
  hubAlias,
  keccak256Hex,
  withdrawalAddress,
  withdrawalKey,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { bitcoinMainnet, mainNetwork } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import { repeated } from '../../../core/test/vectors/orders.ts'
import { decodeBitcoinPayload, encodeBitcoinPayload } from '../bitcoin/rules/allocatorPayload.ts'
import { outputScript } from '../bitcoin/rules/script.ts'
import { bitcoinTransactionId } from '../bitcoin/rules/transaction.ts'
import { bitcoinWithdrawalTransfer, decodeBitcoinWithdrawal } from '../bitcoin/rules/withdrawal.ts'
import { encodeTransfer } from '../ethereum/rules/abi.ts'
import { type EvmWithdrawal, encodeEvmWithdrawal, evmWithdrawalId } from '../ethereum/rules/withdrawal.ts'
import { encodeHyperliquidWithdrawal } from '../hyperliquid/rules/withdrawal.ts'
import { encodeLighterWithdrawal } from '../lighter/rules/withdrawal.ts'
import { encodeSolanaWithdrawal } from '../solana/rules/withdrawal.ts'
import {
  payloadDifference,
  payloadHashes,
  payloadWithdrawal,
  type RequestedWithdrawal,
  withdrawRequestOf,
} from './allocatorPayload.ts'
import { signingDigest } from './digests.ts'

const ethereum = { chainId: 'ethereum', ...mainNetwork('ethereum-vm'), hubChainId: '1' }
const spender = hubAlias(ethereum, repeated('11', 20))
const recipient = repeated('22', 20)
const usdc = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
const depository = '0x4cd00e387622c35bddb9b4c962c136462338bc31'
const requestedE: RequestedWithdrawal = {
  depository,
  currency: usdc,
  amount: 1_000_000n,
  recipient,
  spender,
  nonce: 42n,
}
const keccakOfTime = BigInt(keccak256Hex(Buffer.from(1_700_000_000n.toString(16).padStart(64, '0'), 'hex')))
const payloadOfE: EvmWithdrawal = {
  calls: [{ to: usdc, data: encodeTransfer(recipient, 1_000_000n), value: 0n, allowFailure: false }],
  nonce: keccakOfTime,
  expiration: 1_700_000_000n + 864_000n,
}

describe('request E of ethereum', () => {
  const request = withdrawRequestOf(ethereum, encodeEvmWithdrawal(payloadOfE), requestedE)

  test('has the published payload id, digest and withdrawal address', () => {
    expect(withdrawRequestPayloadId(request)).toBe(
      '0x582ce6192f69978996c26959b92ff228ef7e7b1e7e40050c34b457d66dd29d94',
    )
    const domain = { chainId: 1_313_161_554, verifyingContract: repeated('cc', 20) }
    expect(bytesToHex(signingDigest({ purpose: 'withdraw-request', domain, request }))).toBe(
      '0xe4982ff60adc2f3c250d7011109ebe4ab9c3e52d1154cea3efca692c7f4f91da',
    )
    expect(withdrawalAddress(ethereum, { ...requestedE, ownerAlias: spender })).toBe(
      '0x182495a8a57d4fedd79a98df6f4d173ed4d2607b',
    )
  })

  test('has a payload with the published withdrawal id', () => {
    expect(evmWithdrawalId(payloadOfE)).toBe(
      '0x4db2d4c75585e6653fbf08f0d1b4d6817364c90ab177f097a8d30532623f7365',
    )
  })

  test('is the same request for bytes with another nonce and time, which differ from the payload', () => {
    const payload = encodeEvmWithdrawal(payloadOfE)
    for (const [member, change] of [
      ['nonce', { nonce: 7n }],
      ['expiration', { expiration: 1n }],
    ] as const) {
      const selfMade = encodeEvmWithdrawal({ ...payloadOfE, ...change })
      expect(withdrawRequestOf(ethereum, selfMade, requestedE)).toEqual(request)
      expect(payloadDifference('ethereum-vm', selfMade, payload)).toBe(member)
    }
    expect(payloadDifference('ethereum-vm', payload, payload)).toBeUndefined()
    expect(payloadDifference('ethereum-vm', payload, '0x12')).toBe('payload')
  })

  test('is another request for another owner, nonce, amount or recipient', () => {
    const bytes = encodeEvmWithdrawal(payloadOfE)
    const ids = [
      requestedE,
      { ...requestedE, spender: repeated('99', 20) },
      { ...requestedE, nonce: 43n },
      { ...requestedE, amount: 1_000_001n },
      { ...requestedE, recipient: repeated('23', 20) },
    ].map((requested) => withdrawRequestPayloadId(withdrawRequestOf(ethereum, bytes, requested)))
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('is signed under the domain of its depository', () => {
    const payload = encodeEvmWithdrawal(payloadOfE)
    const [hash, ...others] = payloadHashes('ethereum-vm', payload, { hubChainId: 1n, depository })
    expect(others).toEqual([])
    const elsewhere = [
      { hubChainId: 2n, depository },
      { hubChainId: 1n, depository: recipient },
    ].flatMap((place) => payloadHashes('ethereum-vm', payload, place))
    expect(new Set([hash, ...elsewhere]).size).toBe(3)
  })
})

test('a request of solana has the published payload id', () => {
  const solana = { ...mainNetwork('solana-vm'), hubChainId: derivedHubChainId('solana').toString() }
  const currency = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
  const [vault, owner] = [
    '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2',
    '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1',
  ]
  const bytes = encodeSolanaWithdrawal({
    domain: repeated('01', 32),
    recipient: owner,
    token: currency,
    amount: 1_000_000n,
    nonce: 7n,
    expiration: 1_700_000_300n,
    vaultAddress: vault,
  })
  const requested = { ...requestedE, depository: vault, currency, recipient: owner }
  expect(withdrawRequestPayloadId(withdrawRequestOf(solana, bytes, requested))).toBe(
    '0x415f8643e4fbd4332f61b7e800c3e9fb582115712abe1a8dafb2ac3f8f9c2d69',
  )
})

describe('the published withdrawal of bitcoin', () => {
  const bitcoin = { ...mainNetwork('bitcoin-vm'), hubChainId: derivedHubChainId('bitcoin').toString() }
  const allocator = 'bc1qzmtn0q92ayejt2hpffvlktcpmyy7vvsd06sefu'
  const receiver = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
  const script = (address: string) => outputScript(address, bitcoinMainnet)
  const fee = 1_130n
  const payload = encodeBitcoinPayload({
    inputs: [
      {
        txid: `ab01${'11'.repeat(30)}`,
        vout: 0,
        spent: { value: 100_000n, script: script(allocator) },
      },
    ],
    outputs: [
      { value: 60_000n - fee, script: script(receiver) },
      { value: 40_000n, script: script(allocator) },
    ],
  })
  const psbt = payloadWithdrawal('bitcoin-vm', payload)
  const requestOf = (bytes: Hex) => {
    const { amount } = bitcoinWithdrawalTransfer(decodeBitcoinWithdrawal(bytes), bitcoinMainnet)
    const currency = 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8'
    return withdrawRequestOf(bitcoin, bytes, {
      depository: allocator,
      currency,
      amount,
      recipient: receiver,
      spender,
      nonce: 42n,
    })
  }

  test('has the published payload, and payload id derived from the PSBT alone', () => {
    expect(keccak256Hex(Buffer.from(payload.slice(2), 'hex'))).toBe(
      '0x4c6fae7d4731d11b29a3037c54e26b143a230db05bf6c9950a6cea59bec43129',
    )
    expect(requestOf(psbt)).toMatchObject({ amount: 60_000n, recipient: 'ABTo3wGMfjJswlP6rH5GzcUeaFQsQg==' })
    expect(withdrawRequestPayloadId(requestOf(psbt))).toBe(
      '0x4a7ac8dfefc07f59866c04ac4c41516312ace7ddb9a945c18478e09a0c364404',
    )
  })

  test('becomes the published transaction', () => {
    const txid = bitcoinTransactionId(decodeBitcoinWithdrawal(psbt).transaction)
    expect([txid.slice(0, 8), txid.slice(-4)]).toEqual(['8354a09c', '77a1'])
  })

  test('is itself whatever its version says, and another one with other outputs or inputs', () => {
    expect(encodeBitcoinPayload(decodeBitcoinPayload(payload))).toBe(payload)
    expect(payloadDifference('bitcoin-vm', psbt, payload)).toBeUndefined()
    const decoded = decodeBitcoinPayload(payload)
    const [first, change] = decoded.outputs
    if (first === undefined || change === undefined) throw new Error('two outputs')
    const moved = [
      { ...first, value: first.value + 1n },
      { ...change, value: change.value - 1n },
    ]
    const other = payloadWithdrawal('bitcoin-vm', encodeBitcoinPayload({ ...decoded, outputs: moved }))
    expect(payloadDifference('bitcoin-vm', other, payload)).toBe('outputs')
    const inputs = decoded.inputs.map((input) => ({ ...input, vout: 1 }))
    const elsewhere = payloadWithdrawal('bitcoin-vm', encodeBitcoinPayload({ ...decoded, inputs }))
    expect(payloadDifference('bitcoin-vm', elsewhere, payload)).toBe('inputs')
  })

  test('has one hash per input', () => {
    const place = { hubChainId: 1n, depository: allocator }
    expect(payloadHashes('bitcoin-vm', payload, place)).toHaveLength(1)
  })

  test('with a fee that no rate of the allocator gives is refused', () => {
    const decoded = decodeBitcoinPayload(payload)
    const outputs = decoded.outputs.map((output, index) =>
      index === 0 ? { ...output, value: output.value - 1n } : output,
    )
    const bytes = payloadWithdrawal('bitcoin-vm', encodeBitcoinPayload({ ...decoded, outputs }))
    expect(() => requestOf(bytes)).toThrow('no whole rate')
  })
})

test('requests of hyperliquid and lighter take from their bytes what they have to say besides', () => {
  const hyperliquid = { ...mainNetwork('hyperliquid-vm'), hubChainId: '1' }
  const token = '0x6d1e7cde53ba9467b783cb7c530ce054'
  const [destination, account] = [repeated('22', 20), repeated('33', 20)]
  const send = encodeHyperliquidWithdrawal({
    type: 'SendAsset',
    hyperliquidChain: 'Mainnet',
    destination,
    sourceDex: 'spot',
    destinationDex: 'spot',
    token: `USDC:${token}`,
    amount: '100.0',
    fromSubAccount: '',
    nonce: 5n,
  })
  const requested = { ...requestedE, depository: account, currency: token }
  const request = withdrawRequestOf(hyperliquid, send, requested)
  expect(request.currency).toBe(`USDC:${token}`)
  expect(request.data).toContain(Buffer.from('spot').toString('hex'))
  const lighter = { ...mainNetwork('lighter-vm'), hubChainId: '1' }
  const transfer = {
    nonce: 9n,
    fromAccountIndex: 7n,
    fromRouteType: 0n,
    apiKeyIndex: 4n,
    toAccountIndex: 8n,
    toRouteType: 0n,
    assetIndex: 3n,
    amount: 5n,
    usdcFee: 1n,
    lighterChainId: 304n,
    memo: repeated('ab', 32),
  }
  const move = (nonce: bigint) => encodeLighterWithdrawal({ ...transfer, nonce })
  const asked = { ...requestedE, depository: '7', currency: '0', recipient: '8' }
  const [one, other] = [9n, 10n].map((nonce) => withdrawRequestOf(lighter, move(nonce), asked))
  expect(one?.data).not.toBe(other?.data)
  expect(payloadDifference('lighter-vm', move(10n), move(9n))).toBe('nonce')
  expect(payloadDifference('hyperliquid-vm', send, send)).toBeUndefined()
  const place = { hubChainId: 1n, depository: '7' }
  expect(payloadHashes('lighter-vm', move(9n), place)).toHaveLength(1)
  expect(payloadHashes('hyperliquid-vm', send, place)).toHaveLength(1)
})

test('burn and give-back of an issued withdrawal share one key, which names hub and payload alone', () => {
  const payloadId: Hex = '0x582ce6192f69978996c26959b92ff228ef7e7b1e7e40050c34b457d66dd29d94'
  expect(withdrawalKey({ hubId: 'relay', payloadId })).toBe(
    '0xcd7a1c9db5bb3843086fa193b97a21bf533c9288716de71c54fcf8cbc4269a57',
  )
})
