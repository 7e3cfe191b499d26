// Verdicts on payloads that an untrusted contract issues for the allocator's key. In every family the payment of its
// request gets a signature, and every payload that moves other money gets none.

import {
  ConfigurationError,
  derivedHubChainId,
  type Hex,
  hexToBytes,
  hubTokenId,
  Secret,
  type WithdrawRequest,
  withdrawalAddress,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { bitcoinNetworkOf, solanaCodec, tronAddress } from '@causeway/core/encodings'
import {
  type BitcoinPayload,
  encodeBitcoinPayload,
  encodeEvmWithdrawal,
  encodeHyperliquidWithdrawal,
  encodeLighterWithdrawal,
  encodeSolanaWithdrawal,
  encodeTransfer,
  outputScript,
  payloadWithdrawal,
  type SendAsset,
  withdrawRequestOf,
} from '@causeway/families/rules'
import { createRawKeySigner, parsePrivateKey } from '@causeway/signer'
import { ed25519 } from '@noble/curves/ed25519.js'
import { recoverAddress } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { createPayloadKeys, ed25519PublicKey } from '../keys/payloadKeys.ts'
import { backingProblem, judgeIssued } from './issued.ts'
import { chainOfPayer, type PayingDepository, paymentOf } from './payingDepository.ts'

const allocatorKey: Hex = `0x${'77'.repeat(32)}`
const ed25519Key: Hex = `0x${'78'.repeat(32)}`
const evmDepository: Hex = `0x${'0d'.repeat(20)}`
const solanaDomain: Hex = `0x${'0e'.repeat(32)}`
const solanaVault = '6btHt9e9pxdoGxMy1AjZCGzqzZxgHm9sEmJGYegDXHZy'
const depositories = {
  tron: tronAddress(evmDepository),
  solana: '2FCJft4deG5LuYbobecRJZfKKyeSeFm4pv2tasATSjko',
  bitcoin: 'bcrt1qzuhdurqrt0ka05wd7zvphj47zzg8jcyfun6ejm',
  hyperliquid: '0xeccf8deb880b9841c06e3a6eda720151d7205f55',
  lighter: '900001',
}
const at = (chain: keyof typeof depositories) => ({
  chain,
  hubChainId: derivedHubChainId(chain).toString(),
  depository: depositories[chain],
})
const payers: readonly PayingDepository[] = [
  { vmType: 'ethereum-vm', chain: 'base', hubChainId: '8453', depository: evmDepository },
  { vmType: 'tron-vm', ...at('tron'), hubChainId: '1414680398' },
  { vmType: 'solana-vm', ...at('solana'), domain: solanaDomain, vault: solanaVault },
  { vmType: 'bitcoin-vm', ...at('bitcoin'), network: 'regtest' },
  {
    vmType: 'hyperliquid-vm',
    ...at('hyperliquid'),
    networkName: 'Mainnet',
    tokens: [{ token: '0x6d1e7cde53ba9467b783cb7c530ce054', decimals: 8 }],
  },
  { vmType: 'lighter-vm', ...at('lighter'), lighterChainId: '300' },
]
const signer = createRawKeySigner({ privateKey: parsePrivateKey(allocatorKey, 'a test') })
const keys = createPayloadKeys({ signer, ed25519: new Secret(ed25519Key) }, payers)
const payerOf = (vmType: PayingDepository['vmType']): PayingDepository => {
  const found = payers.find((one) => one.vmType === vmType)
  if (found === undefined) throw new Error(`nothing is signed for ${vmType}`)
  return found
}

const repeated = (byte: string, count: number): Hex => `0x${byte.repeat(count)}`
const spender = repeated('99', 20)
const account = repeated('22', 20)
const usdcToken = repeated('5c', 20)
const usdc = '0x6d1e7cde53ba9467b783cb7c530ce054'
const regtest = bitcoinNetworkOf('regtest')
const scriptOf = (byte: number) => Uint8Array.of(0, 20, ...new Uint8Array(20).fill(byte))
const own = outputScript(depositories.bitcoin, regtest)

/** The request that a payload is the payment of. */
function requestOf(payer: PayingDepository, payload: Hex): WithdrawRequest {
  const { currency, amount, recipient } = paymentOf(payer, payload)
  const asked = { currency, amount, recipient, spender, depository: payer.depository, nonce: 42n }
  return withdrawRequestOf(chainOfPayer(payer), payloadWithdrawal(payer.vmType, payload), asked)
}

type Built = {
  readonly vmType: PayingDepository['vmType']
  /** @param id of the payload, where the family has a place for it */
  readonly build: (id: bigint) => Hex
  /** Payloads that its reader takes for the same payment, but that move other money or belong to another deployment. */
  readonly forged: readonly (readonly [what: string, build: (id: bigint) => Hex, reason: string])[]
}

const other = 'its payload pays something else'
const call = (to: Hex, value: bigint, data: Hex = '0x') => ({ to, data, value, allowFailure: false })
const evm = (nonce: bigint, calls = [call(account, 5n)]) =>
  encodeEvmWithdrawal({ calls, nonce, expiration: 1_800_000_000n })
const evmForgeries: Built['forged'] = [
  ['to somebody else', (id) => evm(id, [call(repeated('23', 20), 5n)]), other],
  ['of another amount', (id) => evm(id, [call(account, 6n)]), other],
  ['of another currency', (id) => evm(id, [call(usdcToken, 0n, encodeTransfer(account, 5n))]), other],
  ['under the id of another', (id) => evm(id + 1n), 'its payload has the nonce of another one'],
]

const solanaTerms = {
  domain: solanaDomain,
  recipient: solanaVault,
  token: undefined,
  amount: 5n,
  expiration: 1_800_000_000n,
  vaultAddress: solanaVault,
}
const solana = (nonce: bigint, change: object = {}) =>
  encodeSolanaWithdrawal({ ...solanaTerms, nonce: BigInt.asUintN(64, nonce), ...change })

const bitcoinTerms: BitcoinPayload = {
  inputs: [{ txid: 'a1'.repeat(32), vout: 1, spent: { value: 100_000n, script: own } }],
  outputs: [
    { value: 60_000n - 1_130n, script: scriptOf(7) },
    { value: 40_000n, script: own },
  ],
}
const [paid] = bitcoinTerms.outputs
const bitcoin = (change: Partial<BitcoinPayload> = {}) => encodeBitcoinPayload({ ...bitcoinTerms, ...change })

const asset: SendAsset = {
  type: 'SendAsset',
  hyperliquidChain: 'Mainnet',
  destination: account,
  sourceDex: 'spot',
  destinationDex: 'spot',
  token: `USDC:${usdc}`,
  amount: '1.00000000',
  fromSubAccount: '',
  nonce: 5n,
}
const hyperliquid = (change: Partial<SendAsset> = {}) => encodeHyperliquidWithdrawal({ ...asset, ...change })

const transfer = {
  nonce: 9n,
  fromAccountIndex: BigInt(depositories.lighter),
  fromRouteType: 0n,
  apiKeyIndex: 4n,
  toAccountIndex: 8n,
  toRouteType: 0n,
  assetIndex: 3n,
  amount: 5n,
  usdcFee: 1n,
  lighterChainId: 300n,
  memo: repeated('ab', 32),
}
const lighter = (change: Partial<typeof transfer> = {}) => encodeLighterWithdrawal({ ...transfer, ...change })

const families: readonly Built[] = [
  { vmType: 'ethereum-vm', build: evm, forged: evmForgeries },
  { vmType: 'tron-vm', build: evm, forged: evmForgeries },
  {
    vmType: 'solana-vm',
    build: solana,
    forged: [
      ['of another amount', (id) => solana(id, { amount: 6n }), other],
      ['from another vault', (id) => solana(id, { vaultAddress: solanaCodec.nativeCurrency }), other],
      ['of another deployment', (id) => solana(id, { domain: repeated('01', 32) }), other],
      ['under the id of another', (id) => solana(id + 1n), 'its payload has the nonce of another one'],
    ],
  },
  {
    vmType: 'bitcoin-vm',
    build: () => bitcoin(),
    forged: [
      [
        'whose change goes elsewhere',
        () => bitcoin({ outputs: [...(paid ? [paid] : []), { value: 40_000n, script: scriptOf(8) }] }),
        other,
      ],
      [
        'that spends what is not the depository’s',
        () =>
          bitcoin({
            inputs: bitcoinTerms.inputs.map((input) => ({
              ...input,
              spent: { ...input.spent, script: scriptOf(8) },
            })),
          }),
        other,
      ],
      [
        'of other outputs',
        () => bitcoin({ inputs: bitcoinTerms.inputs.map((one) => ({ ...one, vout: 2 })) }),
        other,
      ],
    ],
  },
  {
    vmType: 'hyperliquid-vm',
    build: () => hyperliquid(),
    forged: [
      ['at another time', () => hyperliquid({ nonce: 6n }), other],
      ['of another network', () => hyperliquid({ hyperliquidChain: 'Testnet' }), other],
      ['from a sub-account', () => hyperliquid({ fromSubAccount: account }), other],
      ['into another dex', () => hyperliquid({ destinationDex: 'xyz' }), other],
      ['of another amount', () => hyperliquid({ amount: '2.00000000' }), other],
    ],
  },
  {
    vmType: 'lighter-vm',
    build: () => lighter(),
    forged: [
      ['of another network', () => lighter({ lighterChainId: 304n }), other],
      ['from another account', () => lighter({ fromAccountIndex: 1n }), other],
      ['with another nonce', () => lighter({ nonce: 10n }), other],
      ['with another fee', () => lighter({ usdcFee: 2n }), other],
      ['to another route', () => lighter({ toRouteType: 1n }), other],
    ],
  },
]

describe.each(families)('a payload of $vmType', ({ vmType, build, forged }) => {
  const payer = payerOf(vmType)
  const request = requestOf(payer, build(0n))
  const payloadId = withdrawRequestPayloadId(request)
  const issued = { payloadId, request, payload: build(BigInt(payloadId)) }

  test('that pays its request is signed for its depository alone', async () => {
    const verdict = judgeIssued(issued, payers)
    if (verdict.kind !== 'sign') throw new Error(verdict.reason)
    expect(verdict.payer).toEqual(payer)
    expect(
      judgeIssued(
        issued,
        payers.filter((one) => one.vmType !== vmType),
      ),
    ).toEqual({
      kind: 'refuse',
      reason: 'its depository is not signed for here',
    })
    const { signal } = new AbortController()
    for (const [index, hash] of verdict.hashes.entries()) {
      const signature = await keys.sign(issued, verdict, index, { signal })
      if (vmType === 'solana-vm') {
        expect(ed25519.verify(hexToBytes(signature), hexToBytes(hash), ed25519PublicKey(ed25519Key))).toBe(
          true,
        )
      } else {
        const signer = await recoverAddress({ hash, signature })
        expect(signer).toBe(privateKeyToAddress(allocatorKey))
      }
    }
  })

  test('L-94: has its own withdrawal address behind it, which names its owner, nonce and recipient', () => {
    const verdict = judgeIssued(issued, payers)
    if (verdict.kind !== 'sign') throw new Error(verdict.reason)
    const { currency, recipient } = paymentOf(payer, issued.payload)
    const chain = chainOfPayer(payer)
    const account = { depository: payer.depository, currency, recipient, ownerAlias: spender, nonce: 42n }
    expect(verdict.backing).toEqual({
      holder: withdrawalAddress(chain, account),
      hubTokenId: hubTokenId(chain, currency),
      amount: request.amount,
    })
  })

  test.each(forged)('P-120: %s is not signed', (_what, forge, reason) => {
    const verdict = judgeIssued({ ...issued, payload: forge(BigInt(payloadId)) }, payers)
    expect(verdict).toEqual({ kind: 'refuse', reason })
  })

  test('of another request is not signed', () => {
    const moved = { ...request, amount: request.amount + 1n }
    expect(judgeIssued({ ...issued, request: moved }, payers)).toMatchObject({
      reason: 'its request has another id',
    })
    const ownId = withdrawRequestPayloadId(moved)
    expect(judgeIssued({ ...issued, request: moved, payloadId: ownId }, payers)).toMatchObject({
      reason: other,
    })
  })
})

test('a token of Hyperliquid whose decimals are not known cannot be read', () => {
  const payer = payerOf('hyperliquid-vm')
  expect(() => paymentOf(payer, hyperliquid({ token: `HYPE:${repeated('0d', 16)}` }))).toThrow('decimals')
})

describe('what the hub must show of a payload', () => {
  const id = repeated('aa', 32)
  const issued = { payloadId: id, payload: repeated('bb', 64) }
  const state = { payload: issued.payload, payloadIdOfNonce: id, balance: 5n }
  const lacks = (change: object) => backingProblem(issued, { amount: 5n }, { ...state, ...change })

  test('the payload, under its nonce, and the money', () => {
    expect(lacks({})).toBeUndefined()
    expect(lacks({ balance: 6n })).toBeUndefined()
  })

  test.each([
    ['one unit less than it pays', { balance: 4n }, 'the hub does not hold what it pays'],
    ['nothing at all', { balance: 0n }, 'the hub does not hold what it pays'],
    ['an event without a payload', { payload: '0x' }, 'the hub holds other bytes for it'],
    ['other bytes', { payload: repeated('bc', 64) }, 'the hub holds other bytes for it'],
    [
      'a second payload of a nonce',
      { payloadIdOfNonce: repeated('ab', 32) },
      'the hub names another payload for its nonce',
    ],
  ])('P-120: %s is not signed', (_what, change, reason) => {
    expect(lacks(change)).toBe(reason)
  })
})

describe('keys', () => {
  const solana = payers.filter(({ vmType }) => vmType === 'solana-vm')
  const others = payers.filter(({ vmType }) => vmType !== 'solana-vm')

  test('a depository that obeys another curve needs a key on it, by name', () => {
    const open = () => createPayloadKeys({ signer, ed25519: undefined }, solana)
    expect(open).toThrow(ConfigurationError)
    expect(open).toThrow(/ALLOCATOR_ED25519_PRIVATE_KEY.*solana/)
  })

  test('a key without a use is refused by name, without its value', () => {
    const open = () => createPayloadKeys({ signer, ed25519: new Secret(ed25519Key) }, others)
    expect(open).toThrow(/ALLOCATOR_ED25519_PRIVATE_KEY/)
    expect(open).not.toThrow(new RegExp(ed25519Key.slice(2)))
  })
})
