// Every form of an owner's signature, by one table: a deposit that nobody filled goes back to its depositor's balance,
// he takes it out with his signature, and nobody else does.
import {
  encodeTransferAction,
  type Hex,
  hubAlias,
  hubTokenId,
  keccak256,
  type OwnerRequest,
  onchainId,
  orderAddress,
  ownerRequestHash,
} from '@causeway/core'
import { codecOf, mainNetwork } from '@causeway/core/encodings'
import { recoverSigner } from '@causeway/signer'
import { hashMessage } from 'viem'
import { describe, expect, test } from 'vitest'
import { orderB, orderBId, orderBSignature, repeated } from '../../../../packages/core/test/vectors/orders.ts'
import {
  owners,
  signBip137,
  signBip322,
  signDigest,
  signEd25519,
  signTaproot,
} from '../../../../packages/core/test/vectors/ownerKeys.ts'
import {
  blockTime,
  chains,
  depositB,
  depositFacts,
  evidence,
  promised,
  type Script,
  world,
} from '../../test/fixtures/world.ts'
import { requestedWithdrawalsExample } from '../wire/requestExamples.ts'
import { recoveryRequestSchema, withdrawalFlowRequestSchema } from '../wire/requests.ts'
import { attestRecovery } from './recovery.ts'
import { attestWithdrawalInitiation } from './withdrawalInitiation.ts'

type Row = {
  readonly chainId: string
  /** The depositor. */
  readonly account: string
  readonly sign: (hash: Uint8Array) => Hex
  /** Two other accounts of the family. */
  readonly others: readonly [string, string]
  readonly script?: Script
}

const options = { signal: new AbortController().signal }
const key = '0x2e988a386a799f506693793c6a5af6b54dfaabfb'
const contract = repeated('c0', 20)
const digits = (hash: Uint8Array) => Buffer.from(hash).toString('hex')
const signEvm = (hash: Uint8Array) => signDigest(Buffer.from(hashMessage({ raw: hash }).slice(2), 'hex'))
const signTron = (hash: Uint8Array) =>
  signDigest(keccak256(Buffer.from(`\x19TRON Signed Message:\n64${digits(hash)}`)))
/** Takes two signatures of the key, one behind the other. */
const acceptsByCode: Script['acceptsByCode'] = ({ account, digest, signature }) => {
  const first = signature.slice(0, 132)
  return (
    account === contract && signature === `${first}${first.slice(2)}` && recoverSigner(digest, first) === key
  )
}
const evmOthers = [repeated('22', 20), repeated('23', 20)] as const
const bitcoinOthers = ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', '1KT3zCYUrmQxjcveUNs1Rs7WcXDcPQZ4av'] as const

const rows: Readonly<Record<string, Row>> = {
  'a key on an EVM chain': { chainId: 'base', account: key, sign: signEvm, others: evmOthers },
  'a contract on an EVM chain': {
    chainId: 'base',
    account: contract,
    others: [key, evmOthers[0]],
    script: { acceptsByCode },
    sign: (hash) => `${signEvm(hash)}${signEvm(hash).slice(2)}` as const,
  },
  Hyperliquid: { chainId: 'hyperliquid', account: key, sign: signEvm, others: evmOthers },
  Lighter: {
    chainId: 'lighter',
    account: '723071',
    sign: signEvm,
    others: ['5', '6'],
    script: { ownerKeys: { 723071: key, 5: repeated('99', 20) } },
  },
  Tron: {
    chainId: 'tron',
    account: owners.tron,
    sign: signTron,
    others: ['TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  },
  Solana: {
    chainId: 'solana',
    account: owners.solana,
    sign: (hash) => signEd25519(digits(hash)),
    others: ['7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1', '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2'],
  },
  'Bitcoin, P2PKH': {
    chainId: 'bitcoin',
    account: owners.p2pkh,
    sign: (hash) => signBip137(digits(hash), 31),
    others: bitcoinOthers,
  },
  'Bitcoin, P2WPKH': {
    chainId: 'bitcoin',
    account: owners.p2wpkh,
    sign: (hash) => signBip322(digits(hash), 'p2wpkh'),
    others: bitcoinOthers,
  },
  'Bitcoin, P2TR': {
    chainId: 'bitcoin',
    account: owners.p2tr,
    sign: (hash) => signTaproot(digits(hash)),
    others: bitcoinOthers,
  },
}

const amount = 1_000_000n
const transactionIds: Readonly<Record<string, string>> = {
  solana: requestedWithdrawalsExample.transactionId,
  base: repeated('aa', 32),
  hyperliquid: repeated('aa', 32),
}

function situationOf({ chainId, account, others, script = {} }: Row) {
  const entry = chains.get(chainId)
  if (entry === undefined) throw new Error(`no chain ${chainId}`)
  const { vmType } = entry
  const chain = { chainId, ...mainNetwork(vmType) }
  const currency = codecOf(chain).nativeCurrency
  const transactionId = transactionIds[chainId] ?? 'aa'.repeat(32)
  const orderHolder = orderAddress(chain, {
    depositor: account,
    timestampSeconds: blockTime,
    depositId: orderBId,
  })
  const alias = hubAlias(chain, account)
  const deposit = { ...depositB, depositor: account, currency, amount }
  const deposits = {
    [transactionId]: depositFacts([deposit], { transactionId, evidence: evidence(chainId) }),
  }
  const context = world(
    { base: {}, [chainId]: { deposits, ...script } },
    // Also of others: what they do not get is not for want of a balance.
    {
      [orderHolder]: amount,
      [alias]: amount,
      [hubAlias(chain, others[0])]: amount,
    },
    {},
    promised(),
  )
  const request: OwnerRequest = {
    chainId,
    currency,
    amount: amount.toString(),
    ownerChainId: chainId,
    owner: account,
    recipient: others[0],
    nonce: '42',
  }
  const id = onchainId({ chainId, transactionId, onchainIndex: depositB.onchainIndex })
  return { chain, context, alias, orderHolder, request, transactionId, onchainId: id }
}

describe.each(Object.entries(rows))('P-80, P-84: %s', (_name, row) => {
  const { context, request, ...side } = situationOf(row)
  const token = hubTokenId(side.chain, request.currency)
  const initiate = (body: object) =>
    attestWithdrawalInitiation(withdrawalFlowRequestSchema.parse(body), context, options)
  const signed = { ...request, ownerSignature: row.sign(ownerRequestHash(request)) }

  test('P-80, P-84: takes out what was recovered, once', async () => {
    const { transactionId, onchainId: deposit, orderHolder: hubFrom, alias } = side
    const recovery = recoveryRequestSchema.parse({
      chainId: row.chainId,
      transactionId,
      onchainId: deposit,
      order: orderB,
      orderSignature: orderBSignature,
    })
    const back = (await attestRecovery(recovery, context, options)).unsigned.execution
    expect(back.actions).toEqual([encodeTransferAction({ hubFrom, hubTo: alias, hubTokenId: token, amount })])
    const first = (await initiate(signed)).unsigned
    const { withdrawalAddress: hubTo } = first
    expect(first.execution.actions).toEqual([
      encodeTransferAction({ hubFrom: alias, hubTo, hubTokenId: token, amount }),
    ])
    // Handed in again it has the key that the hub takes once.
    expect((await initiate(signed)).unsigned).toEqual(first)
  })

  const thefts: readonly (readonly [string, object])[] = [
    ['by another key', { owner: row.others[0] }],
    ['to another recipient', { recipient: row.others[1] }],
    ['of another amount', { amount: '999999' }],
    ['on another chain', { chainId: 'ethereum' }],
    ['of the owner’s name on another chain', { ownerChainId: row.chainId === 'base' ? 'ethereum' : 'base' }],
    ['with another nonce', { nonce: '43' }],
    ['with a nonce in another spelling', { nonce: '0x2a' }],
  ]
  test.each(thefts)(
    'P-80: a thief takes nothing %s, with a signature that was seen',
    async (_how, change) => {
      await expect(initiate({ ...signed, ...change })).rejects.toMatchObject({ kind: 'invalid_request' })
    },
  )

  test('P-80: a thief takes nothing with a signature of his own', async () => {
    const named = { ...request, owner: row.others[0] }
    const stolen = { ...named, ownerSignature: row.sign(ownerRequestHash(named)) }
    await expect(initiate(stolen)).rejects.toMatchObject({ code: expect.stringMatching(/^INVALID_OWNER/) })
  })
})
