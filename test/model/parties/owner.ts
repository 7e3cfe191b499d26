// Party that deposits, for an order or for itself, and withdraws its balance on the hub.
import { type Hex, ownerRequestDigest, withdrawalAddress } from '@causeway/core'
import type { LocalAccount } from '@causeway/localnet'
import { concatHex } from 'viem'
import { judgeIssued } from '../../../apps/allocator/src/payloads/issued.ts'
import { allocatorCalls, depositoryCalls, tokenCalls } from '../contracts/calls.ts'
import { toHex } from '../contracts/contractModel.ts'
import { type Currency, chainNumbers, type UserChainId, userChainIds } from '../network.ts'
import { finalityBlocks } from '../oracles.ts'
import type { RequestOf } from '../rules.ts'
import { signDigest } from '../signing.ts'
import { type KnownDeposit, type KnownWithdrawal, noOrder, protocolChain, type World } from '../world.ts'

export type Money = {
  readonly owner: LocalAccount
  readonly chain: UserChainId
  readonly currency: Currency
  readonly amount: bigint
}

/** By the depository's call, or by a plain transfer with the id behind it. @returns what was sent, where it succeeded */
export async function deposit(
  world: World,
  { owner, chain, currency, amount }: Money,
  { orderId, by }: { readonly orderId?: Hex; readonly by: 'call' | 'transfer' },
): Promise<KnownDeposit | undefined> {
  const { depository } = world.network.places[chain]
  const token = world.token(chain, currency)
  const from = owner.address
  const id = orderId ?? noOrder
  const isCoin = currency === 'coin'
  if (by === 'call' && !isCoin)
    await world.send(chain, { from, to: token, data: tokenCalls.approve(depository, amount) })
  const sent = isCoin
    ? { from, to: depository, data: depositoryCalls.depositNative(from, id), value: amount }
    : by === 'call'
      ? { from, to: depository, data: depositoryCalls.depositErc20(from, token, amount, id) }
      : { from, to: token, data: concatHex([tokenCalls.transfer(depository, amount), id]) }
  const receipt = await world.send(chain, sent)
  if (!receipt.succeeded) return undefined
  const known = { chain, id: receipt.id, orderId }
  world.deposits.push(known)
  return known
}

/** Has a deposit attested and brought to the hub. */
export async function mint(world: World, { chain, id }: KnownDeposit, when: 'now' | 'later' = 'now') {
  const answer = await world.oracles.attest('deposits', { chainId: chain, transactionId: id })
  if (answer.ok) await world.settle(answer.response.execution, when)
  return answer
}

export type Taking = Money & {
  readonly recipient: Hex
  readonly nonce: string
  readonly signer?: LocalAccount
}

/** Moves money of an owner to a withdrawal address, where the owner signed for it. */
export async function initiate(world: World, taking: Taking): Promise<KnownWithdrawal | undefined> {
  const { owner, chain, currency, amount, recipient, nonce, signer = owner } = taking
  const token = world.token(chain, currency)
  const request = {
    chainId: chain,
    currency: token,
    amount: String(amount),
    recipient,
    nonce,
    ownerChainId: ownerChainOf(world, owner, chain),
    owner: owner.address,
  }
  const ownerSignature = await signDigest(signer, toHex(ownerRequestDigest(request)))
  const flow: RequestOf<'initiation'> = { ...request, ownerSignature }
  const answer = await world.oracles.attest('initiation', flow)
  if (!answer.ok) return undefined
  await world.settle(answer.response.execution)
  const alias = world.aliasOf(owner, ownerChainOf(world, owner, chain))
  const address = withdrawalAddress(protocolChain(chain), {
    depository: world.network.places[chain].depository,
    currency: token,
    recipient,
    ownerAlias: alias,
    nonce: BigInt(nonce),
  })
  const known = world.withdrawals.find((one) => one.address === address && one.amount === amount)
  if (known !== undefined) return known
  const withdrawal: KnownWithdrawal = {
    owner,
    chain,
    currency,
    amount,
    recipient,
    flow,
    address,
    alias,
    hubToken: world.hubToken(chain, currency),
    payloads: [],
    payouts: [],
  }
  world.withdrawals.push(withdrawal)
  return withdrawal
}

/** Chain of an owner's hub account: the solver's income is under one account for all chains. */
function ownerChainOf(world: World, { address }: LocalAccount, chain: UserChainId): UserChainId {
  return address === world.network.keys.orderSigner.address ? 'base' : chain
}

/** Brings the oracles' leave to the allocator, which builds the payload. Asked again, it refuses. */
export async function issue(world: World, { flow }: KnownWithdrawal) {
  const answer = await world.oracles.attest('initiated', flow)
  if (!answer.ok) return answer
  const { chainId, amount, recipient, signatures: _, ...rest } = answer.response.payloadParams
  const request = { ...rest, chainId: BigInt(chainId), amount: BigInt(amount), recipient }
  const signature = await world.oracles.signWithdrawRequest(request)
  const asked = { ...request, receiver: recipient }
  const data = allocatorCalls.submitWithdrawRequest(asked, signature)
  const from = world.user(4).address
  const sent = { from, to: world.network.places.hub.allocator, data }
  world.submissions.push(sent)
  await world.send('hub', sent)
  return answer
}

/** The allocator's signer, by its shipped judgement: what is final on the hub gets its signature. */
export async function signIssued(world: World, withdrawal: KnownWithdrawal): Promise<void> {
  const { places, chains, keys } = world.network
  const { flow, alias, amount, recipient, chain } = withdrawal
  const nonce: Hex = `0x${BigInt(flow.nonce).toString(16).padStart(64, '0')}`
  const { depository } = places[chain]
  const request = {
    chainId: BigInt(chainNumbers[chain]),
    depository,
    currency: world.token(chain, withdrawal.currency),
    amount,
    spender: alias,
    recipient: recipient.toLowerCase(),
    data: '0x' as const,
    nonce,
  }
  const { allocator } = places.hub
  const height = chains.hub.headNumber - finalityBlocks
  const view = async (data: Hex) => {
    const answer = await chains.hub.ask({
      method: 'eth_call',
      params: [{ to: allocator, data }, `0x${Math.max(height, 0).toString(16)}`],
    })
    return answer.ok ? String(answer.result) : '0x'
  }
  const payloadId = toHex32(await view(allocatorCalls.payloadIdOf(alias, nonce)))
  const payload = bytesIn(await view(allocatorCalls.payloads(payloadId)))
  if (payload === '0x') return
  const depositories = userChainIds.map((id) => ({
    vmType: 'ethereum-vm' as const,
    chain: id,
    hubChainId: String(chainNumbers[id]),
    depository: places[id].depository,
  }))
  const verdict = judgeIssued({ payloadId, request, payload }, depositories)
  if (verdict.kind === 'refuse' || withdrawal.payloads.some((one) => one.payload === payload)) return
  const [hash] = verdict.hashes
  if (hash === undefined) return
  const signature = await signDigest(keys.allocator, hash)
  withdrawal.payloads.push({ payload, signature })
  const data = allocatorCalls.storeSignature(payloadId, hash, signature)
  await world.send('hub', { from: keys.allocator.address, to: allocator, data })
}

function toHex32(word: string): Hex {
  return `0x${word.slice(2, 66).padEnd(64, '0')}`
}

/** A returned `bytes`. */
function bytesIn(returned: string): Hex {
  const length = Number(`0x${returned.slice(66, 130) || '0'}`)
  return `0x${returned.slice(130, 130 + 2 * length)}`
}
