// What the allocator's key is asked to sign, by a contract that nobody has to believe: in every family the
// payment of its request gets a signature, and every payload that moves other money gets none.
import {
  type BitcoinPayload,
  bitcoinNetworkOf,
  encodeBitcoinPayload,
  encodeEvmWithdrawal,
  encodeHyperliquidWithdrawal,
  encodeLighterWithdrawal,
  encodeSolanaWithdrawal,
  encodeTransfer,
  type Hex,
  hexToBytes,
  outputScript,
  payloadWithdrawal,
  type SendAsset,
  solanaCodec,
  type WithdrawRequest,
  withdrawRequestOf,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { ed25519 } from '@noble/curves/ed25519.js'
import { recoverAddress } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { familyDepositories, solanaDomain, solanaVault } from '../families/familyPlans.ts'
import { testDeployment } from '../network/testDeployment.ts'
import { judgeIssued } from './issued.ts'
import { chainOfPlace, paymentOf, type SignedPlace, signedPlaceSchema } from './signedPlace.ts'
import { allocatorSignerFile } from './signerConfig.ts'
import { signPayloadHash, solanaAllocator } from './signPayloadHash.ts'

const allocatorKey: Hex = `0x${'77'.repeat(32)}`
const deployment = testDeployment()
const places = signedPlaceSchema.array().parse(
  allocatorSignerFile(
    {
      chains: { hub: { chainId: 1, url: 'http://127.0.0.1:1' } },
      deployment,
      keys: { allocator: { address: privateKeyToAddress(allocatorKey), privateKey: allocatorKey } },
    },
    { healthPort: 0, pollMs: 50 },
  ).depositories,
)
const placeOf = (vmType: SignedPlace['vmType']): SignedPlace => {
  const found = places.find((one) => one.vmType === vmType)
  if (found === undefined) throw new Error(`nothing is signed for ${vmType}`)
  return found
}

const repeated = (byte: string, count: number): Hex => `0x${byte.repeat(count)}`
const spender = repeated('99', 20)
const account = repeated('22', 20)
const usdcToken = repeated('5c', 20)
const usdc = '0x6d1e7cde53ba9467b783cb7c530ce054'
const depositories = familyDepositories(deployment.base.depository)
const regtest = bitcoinNetworkOf('regtest')
const scriptOf = (byte: number) => Uint8Array.of(0, 20, ...new Uint8Array(20).fill(byte))
const own = outputScript(depositories.bitcoin, regtest)

/** The request that a payload is the payment of. */
function requestOf(place: SignedPlace, payload: Hex): WithdrawRequest {
  const { currency, amount, recipient } = paymentOf(place, payload)
  const asked = { currency, amount, recipient, spender, depository: place.depository, nonce: 42n }
  return withdrawRequestOf(chainOfPlace(place), payloadWithdrawal(place.vmType, payload), asked)
}

type Built = {
  readonly vmType: SignedPlace['vmType']
  /** @param id of the payload, where the family has a place for it */
  readonly build: (id: bigint) => Hex
  /** The same payment to its reader, and other money or another deployment in truth. */
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
  ...{ domain: solanaDomain, recipient: solanaVault, token: undefined },
  ...{ amount: 5n, expiration: 1_800_000_000n, vaultAddress: solanaVault },
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
  ...{ type: 'SendAsset', hyperliquidChain: 'Mainnet', destination: account, sourceDex: 'spot' },
  ...{ destinationDex: 'spot', token: `USDC:${usdc}`, amount: '1.00000000', fromSubAccount: '', nonce: 5n },
}
const hyperliquid = (change: Partial<SendAsset> = {}) => encodeHyperliquidWithdrawal({ ...asset, ...change })

const transfer = {
  ...{ nonce: 9n, fromAccountIndex: BigInt(depositories.lighter), fromRouteType: 0n, apiKeyIndex: 4n },
  ...{ toAccountIndex: 8n, toRouteType: 0n, assetIndex: 3n, amount: 5n, usdcFee: 1n },
  ...{ lighterChainId: 300n, memo: repeated('ab', 32) },
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
  const place = placeOf(vmType)
  const request = requestOf(place, build(0n))
  const payloadId = withdrawRequestPayloadId(request)
  const issued = { payloadId, request, payload: build(BigInt(payloadId)) }

  test('that pays its request is signed for its depository alone', async () => {
    const verdict = judgeIssued(issued, places)
    if (verdict.kind !== 'sign') throw new Error(verdict.reason)
    expect(verdict.place).toEqual(place)
    expect(
      judgeIssued(
        issued,
        places.filter((one) => one.vmType !== vmType),
      ),
    ).toEqual({
      ...{ kind: 'refuse', reason: 'its depository is not signed for here' },
    })
    for (const hash of verdict.hashes) {
      const signature = await signPayloadHash(vmType, hash, allocatorKey)
      if (vmType === 'solana-vm') {
        const key = solanaCodec.encodeAddress(solanaAllocator(allocatorKey))
        expect(ed25519.verify(hexToBytes(signature), hexToBytes(hash), key)).toBe(true)
      } else {
        const signer = await recoverAddress({ hash, signature })
        expect(signer).toBe(privateKeyToAddress(allocatorKey))
      }
    }
  })

  test.each(forged)('%s is not signed', (_what, forge, reason) => {
    const verdict = judgeIssued({ ...issued, payload: forge(BigInt(payloadId)) }, places)
    expect(verdict).toEqual({ kind: 'refuse', reason })
  })

  test('of another request is not signed', () => {
    const moved = { ...request, amount: request.amount + 1n }
    expect(judgeIssued({ ...issued, request: moved }, places)).toMatchObject({
      reason: 'its request has another id',
    })
    const ownId = withdrawRequestPayloadId(moved)
    expect(judgeIssued({ ...issued, request: moved, payloadId: ownId }, places)).toMatchObject({
      reason: other,
    })
  })
})

test('a token of Hyperliquid whose decimals are not known cannot be read', () => {
  const place = placeOf('hyperliquid-vm')
  expect(() => paymentOf(place, hyperliquid({ token: `HYPE:${repeated('0d', 16)}` }))).toThrow('decimals')
})
