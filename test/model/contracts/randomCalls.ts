// Random calls of every contract, right and wrong, and what can be read of them afterwards.

import {
  encodeBurnAction,
  encodeMintAction,
  encodeTransferAction,
  type Hex,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { type EvmWithdrawal, evmWithdrawalId, signingDigest } from '@causeway/families/rules'
import type { LocalAccount } from '@causeway/localnet'
import fc from 'fast-check'
import { concatHex } from 'viem'
import type { SentTransaction } from '../chain/chain.ts'
import { chainNumbers, type Network, tokenNames } from '../network.ts'
import { signDigest } from '../signing.ts'
import {
  aggregate3,
  allocatorCalls,
  closeInFillContract,
  depositoryCalls,
  hubCalls,
  payThroughFillContract,
  tokenCalls,
} from './calls.ts'
import { toHex } from './contractModel.ts'
import { withdrawalDigest } from './depository.ts'
import { authorizationDigest } from './token.ts'

const party = fc.nat(3)
const amount = fc.bigInt(0n, 150n)
const small = fc.nat(3)
/** Places in the list of oracles, in any order, 3 for an outsider. */
const signers = fc.array(fc.nat(3), { maxLength: 3 })

export const contractCall = fc.oneof(
  fc.record({ do: fc.constant('transfer' as const), from: party, to: party, amount }),
  fc.record({ do: fc.constant('approve' as const), from: party, spender: fc.nat(4), amount }),
  fc.record({ do: fc.constant('transferFrom' as const), from: party, holder: party, to: party, amount }),
  fc.record({
    do: fc.constant('authorize' as const),
    from: party,
    holder: party,
    signer: party,
    to: party,
    amount,
    nonce: small,
    isOver: fc.boolean(),
  }),
  fc.record({ do: fc.constant('deposit' as const), from: party, depositor: fc.nat(4), amount, id: small }),
  fc.record({
    do: fc.constant('depositNative' as const),
    from: party,
    depositor: fc.nat(4),
    amount,
    id: small,
  }),
  fc.record({
    do: fc.constant('fill' as const),
    from: party,
    to: party,
    tokens: amount,
    wei: amount,
    surplus: fc.constantFrom(0n, 0n, 0n, 1n),
    id: small,
    isLate: fc.constantFrom(false, false, false, true),
  }),
  fc.record({ do: fc.constant('close' as const), from: party, id: small }),
  fc.record({
    do: fc.constant('together' as const),
    from: party,
    holder: party,
    to: party,
    amount,
    back: amount,
    allowFailure: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('execute' as const),
    from: party,
    to: party,
    amount,
    nonce: small,
    isNative: fc.boolean(),
    isOver: fc.boolean(),
    allowFailure: fc.boolean(),
    isSigned: fc.constantFrom(true, true, true, false),
  }),
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      key: fc.nat(9),
      signers,
      throughMultisig: fc.constantFrom(true, true, true, false),
      actions: fc.array(
        fc.record({
          kind: fc.constantFrom('mint', 'mint', 'burn', 'transfer'),
          one: party,
          other: party,
          amount,
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
  fc.record({ do: fc.constant('mintAlone' as const), from: party, amount }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      spender: party,
      to: party,
      amount,
      nonce: small,
      signers,
      isKnown: fc.constantFrom(true, true, false),
      data: fc.constantFrom('0x' as const, '0x' as const, '0x01' as const),
    }),
  },
  fc.record({
    do: fc.constant('storeSignature' as const),
    spender: party,
    to: party,
    amount,
    nonce: small,
    hash: small,
    isSigner: fc.constantFrom(true, true, false),
  }),
)

export type ContractCall = typeof contractCall extends fc.Arbitrary<infer Value> ? Value : never
/** Parties of a run. `run` separates keys and tokens of the hub, which outlive a run on nodes. */
export type Cast = { readonly parties: readonly LocalAccount[]; readonly run: number }

const word = (value: number | bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
const never = 4_000_000_000n
const overSince = 1_000_000_000n
const hubTokenOf = ({ run }: Cast) => 77n + BigInt(run)
const keyOf = ({ run }: Cast, key: number) => word(1_000 * run + key)

/** The transaction that a call stands for, on `base` or the hub. */
export async function transactionOf(
  call: ContractCall,
  { places, keys }: Network,
  cast: Cast,
): Promise<{ readonly chain: 'base' | 'hub'; readonly sent: SentTransaction }> {
  const of = (index: number) => accountAt(cast.parties, index)
  const { depository, fillContract, multicall3, tokens } = places.base
  const token = tokens.USDC
  const onBase = (from: number, to: Hex, data: Hex, value = 0n) => ({
    chain: 'base' as const,
    sent: { from: of(from).address, to, data, value },
  })
  const onHub = (to: Hex, data: Hex, from = of(0).address) => ({
    chain: 'hub' as const,
    sent: { from, to, data },
  })
  switch (call.do) {
    case 'transfer':
      return onBase(call.from, token, tokenCalls.transfer(of(call.to).address, call.amount))
    case 'approve': {
      const spenders = [of(0).address, of(1).address, depository, fillContract, multicall3]
      return onBase(
        call.from,
        token,
        tokenCalls.approve(spenders[call.spender] ?? depository, call.amount * 9n),
      )
    }
    case 'transferFrom': {
      const data = tokenCalls.transferFrom(of(call.holder).address, of(call.to).address, call.amount)
      return onBase(call.from, token, data)
    }
    case 'authorize': {
      const [from, to, nonce] = [of(call.holder).address, of(call.to).address, word(call.nonce)]
      const terms = { from, to, value: call.amount, nonce, validBefore: call.isOver ? overSince : never }
      const place = { chainId: chainNumbers.base, self: token, ...tokenNames.USDC }
      const signature = await signDigest(of(call.signer), authorizationDigest(place, terms))
      const given = [from, to, terms.value, 0n, terms.validBefore, nonce, signature] as const
      return onBase(call.from, token, tokenCalls.transferWithAuthorization(...given))
    }
    case 'deposit': {
      const depositor = cast.parties[call.depositor]?.address ?? word(0).slice(0, 42)
      const given = [`0x${depositor.slice(2)}`, token, call.amount, word(call.id)] as const
      return onBase(call.from, depository, depositoryCalls.depositErc20(...given))
    }
    case 'depositNative': {
      const depositor = cast.parties[call.depositor]?.address ?? word(0).slice(0, 42)
      const data = depositoryCalls.depositNative(`0x${depositor.slice(2)}`, word(call.id))
      return onBase(call.from, depository, data, call.amount)
    }
    case 'fill': {
      const natives = call.wei === 0n ? [] : [{ to: of(call.to).address, amount: call.wei }]
      const paid = call.tokens === 0n ? [] : [{ token, to: of(call.to).address, amount: call.tokens }]
      const pay = payThroughFillContract(word(call.id), call.isLate ? 1n : 2n ** 40n, natives, paid)
      const data = concatHex([pay, word(call.to)])
      return onBase(call.from, fillContract, data, call.wei + call.surplus)
    }
    case 'close':
      return onBase(call.from, fillContract, closeInFillContract(word(call.id)))
    case 'together': {
      const { allowFailure } = call
      const [holder, to] = [of(call.holder).address, of(call.to).address]
      const there = tokenCalls.transferFrom(holder, to, call.amount)
      const back = tokenCalls.transferFrom(to, holder, call.back)
      const calls = [there, back].map((data) => ({ target: token, allowFailure, callData: data }))
      return onBase(call.from, multicall3, aggregate3(calls))
    }
    case 'execute': {
      const withdrawal = withdrawalOf(call, of(call.to).address, token)
      const place = { chainId: chainNumbers.base, self: depository }
      const signer = call.isSigned ? keys.allocator : of(call.from)
      const signature = await signDigest(signer, withdrawalDigest(place, withdrawal))
      return onBase(call.from, depository, depositoryCalls.execute(withdrawal, signature))
    }
    case 'settle': {
      const execution = {
        idempotencyKey: keyOf(cast, call.key),
        actions: call.actions.map((one) => actionOf(one, of, hubTokenOf(cast))),
      }
      const { oracle, oracleMultisig } = places.hub
      const domain = { chainId: chainNumbers.hub, verifyingContract: oracle, version: '2' }
      const digest = toHex(signingDigest({ purpose: 'execution', domain, execution }))
      const signature = await signaturesOf(call.signers, digest, keys.oracles, of(0))
      const by = call.throughMultisig ? oracleMultisig : keys.oracles[0].address
      return onHub(oracle, hubCalls.execute(execution, by, signature))
    }
    case 'mintAlone':
      return onHub(
        places.hub.hub,
        hubCalls.mint(of(1).address, hubTokenOf(cast), call.amount),
        of(call.from).address,
      )
    case 'submit': {
      const request = requestOf(call, of, depository, token)
      const chainId = call.isKnown ? request.chainId : 5n
      const domain = { chainId: chainNumbers.hub, verifyingContract: places.hub.allocator }
      const asked = { ...request, chainId }
      const digest = toHex(signingDigest({ purpose: 'withdraw-request', domain, request: asked }))
      const signature = await signaturesOf(call.signers, digest, keys.oracles, of(0))
      const given = { ...asked, receiver: request.recipient }
      return onHub(places.hub.allocator, allocatorCalls.submitWithdrawRequest(given, signature))
    }
    case 'storeSignature': {
      const id = withdrawRequestPayloadId(requestOf({ ...call, data: '0x' }, of, depository, token))
      const from = call.isSigner ? keys.allocator.address : of(1).address
      return onHub(places.hub.allocator, allocatorCalls.storeSignature(id, word(call.hash), '0x0102'), from)
    }
  }
}

/** Public views after a run, by chain. */
export function viewsOf(
  { places }: Network,
  cast: Cast,
): readonly { chain: 'base' | 'hub'; to: Hex; data: Hex }[] {
  const { parties } = cast
  const { depository, fillContract, multicall3, tokens } = places.base
  const spenders = [parties[0]?.address ?? depository, depository, fillContract, multicall3]
  const nonces = [0, 1, 2, 3].map(word)
  const holders = [...parties.map(({ address }) => address), depository]
  const onBase = (to: Hex, data: Hex) => ({ chain: 'base' as const, to, data })
  const onHub = (to: Hex, data: Hex) => ({ chain: 'hub' as const, to, data })
  return [
    ...holders.slice(0, -1).map((holder) => onBase(tokens.USDC, tokenCalls.balanceOf(holder))),
    ...parties.flatMap(({ address }) =>
      spenders.map((spender) => onBase(tokens.USDC, tokenCalls.allowance(address, spender))),
    ),
    ...parties.flatMap(({ address }) => [
      onHub(places.hub.hub, hubCalls.balanceOf(address, hubTokenOf(cast))),
      ...nonces.map((nonce) => onHub(places.hub.allocator, allocatorCalls.payloadIdOf(address, nonce))),
    ]),
    onHub(places.hub.hub, hubCalls.totalSupply(hubTokenOf(cast))),
    ...Array.from({ length: 10 }, (_, key) =>
      onHub(places.hub.oracle, hubCalls.isExecuted(keyOf(cast, key))),
    ),
  ]
}

/** View by which oracles read whether the request was executed. */
export function usedViewOf(call: ContractCall, { places }: Network, { parties }: Cast): Hex | undefined {
  if (call.do !== 'execute') return undefined
  const withdrawal = withdrawalOf(call, accountAt(parties, call.to).address, places.base.tokens.USDC)
  return depositoryCalls.callRequests(evmWithdrawalId(withdrawal))
}

type Execute = Extract<ContractCall, { readonly do: 'execute' }>

function withdrawalOf(call: Execute, to: Hex, token: Hex): EvmWithdrawal {
  const { allowFailure } = call
  const paid = call.isNative
    ? { to, data: '0x' as const, value: call.amount, allowFailure }
    : { to: token, data: tokenCalls.transfer(to, call.amount), value: 0n, allowFailure }
  return { calls: [paid], nonce: BigInt(call.nonce), expiration: call.isOver ? overSince : never }
}

type Action = Extract<ContractCall, { readonly do: 'settle' }>['actions'][number]

function actionOf(
  { kind, one, other, amount: moved }: Action,
  of: (index: number) => LocalAccount,
  hubTokenId: bigint,
): Hex {
  const [first, second] = [of(one).address, of(other).address]
  const shared = { hubTokenId, amount: moved }
  if (kind === 'mint') return encodeMintAction({ hubTo: first, ...shared })
  if (kind === 'burn') return encodeBurnAction({ hubFrom: first, ...shared })
  return encodeTransferAction({ hubFrom: first, hubTo: second, ...shared })
}

type Requested = Pick<
  Extract<ContractCall, { readonly do: 'submit' }>,
  'spender' | 'to' | 'amount' | 'nonce' | 'data'
>

function requestOf(call: Requested, of: (index: number) => LocalAccount, depository: Hex, currency: Hex) {
  const [spender, recipient] = [of(call.spender).address, of(call.to).address]
  const { data } = call
  // Few amounts, so that requests come again and signatures find their payload.
  const asked = call.amount % 2n
  return {
    chainId: BigInt(chainNumbers.base),
    depository,
    currency,
    amount: asked,
    spender,
    recipient,
    data,
    nonce: word(call.nonce),
  }
}

async function signaturesOf(
  chosen: readonly number[],
  digest: Hex,
  oracles: readonly LocalAccount[],
  outsider: LocalAccount,
): Promise<Hex> {
  const ascending = [...oracles].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
  return concatHex(await Promise.all(chosen.map((index) => signDigest(ascending[index] ?? outsider, digest))))
}

function accountAt(parties: readonly LocalAccount[], index: number): LocalAccount {
  const found = parties[index]
  if (found === undefined) throw new Error(`no party ${index}`)
  return found
}
