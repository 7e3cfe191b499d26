import {
  type Hex,
  hubAlias,
  hubTokenId,
  mainNetwork,
  ownerRequestDigest,
  payloadHashes,
  type WithdrawRequest,
  withdrawRequestPayloadId,
} from '@causeway/core'
import {
  allocatorAbi,
  attestedExecutionSchema,
  hubAbi,
  type OperatedNetwork,
  payloadCallData,
  submitExecution,
} from '@causeway/localnet'
import { concatHex, encodeFunctionData, isHex, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { type FilledRequest, quorum, type Stage, StageFailure, until } from './stages.ts'

const hex = z
  .string()
  .refine((text) => isHex(text))
  // CAST: the check above is that of Hex.
  .transform((text) => text as Hex)
/** Of enough oracles: one whose peers have not read the same block yet answers with its own signature alone. */
const quorumExecutionSchema = attestedExecutionSchema.refine(
  ({ signatures }) => signatures.length >= quorum,
  'too few oracles have signed yet',
)
const executedSchema = z.object({ execution: quorumExecutionSchema })
const depositSchema = executedSchema.extend({
  messages: z
    .array(
      z.object({ result: z.object({ onchainId: z.string(), depositId: z.string(), amount: z.string() }) }),
    )
    .min(1),
})
const initiatedSchema = z.object({
  payloadParams: z.object({
    ...{ chainId: z.string(), depository: z.string(), currency: z.string(), amount: z.string() },
    ...{ spender: hex, recipient: z.string(), nonce: hex, data: hex },
    signatures: z.array(z.object({ signature: hex })).min(quorum),
  }),
})
const withdrawalSchema = z.object({ status: z.number(), execution: quorumExecutionSchema.optional() })

const base = { chainId: 'base', ...mainNetwork('ethereum-vm') }

/**
 * The end of the solver's money: what its fill earned is settled on the hub, taken out by the owner of the
 * balance (the order signer, whom the orders name as solver), issued by the allocator, paid by the
 * depository, and burned.
 */
export function withdrawalStages(
  network: OperatedNetwork,
  oracleUrl: string,
  filled: () => FilledRequest,
): readonly Stage[] {
  const { keys, deployment, chains } = network
  const { hub, base: origin } = deployment
  const token = hubTokenId(base, origin.tokens.USDC)
  const owner = privateKeyToAccount(keys.orderSigner.privateKey)
  const submitter = keys.users.at(-1) ?? keys.deployer
  const alias = hubAlias(base, keys.orderSigner.address)
  let amount = 0n
  let flow: Readonly<Record<string, string>> = {}
  let issued: { readonly request: WithdrawRequest; readonly payloadId: Hex } | undefined
  let payout: Hex = '0x'
  const issuedRequest = () => {
    if (issued === undefined) throw new StageFailure('nothing was issued')
    return issued
  }

  const ask = async <Value>(path: string, schema: z.ZodType<Value>, body: object): Promise<Value> => {
    const response = await fetch(`${oracleUrl}/attestations/${path}`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ ...body, requestPeerSignatures: true }),
    })
    const json: unknown = await response.json()
    if (!response.ok) throw new StageFailure(`${response.status} ${JSON.stringify(json)}`)
    return schema.parse(json)
  }
  /** Blocks must become final, and callers without a key are few at a time. */
  const patiently = async <Value>(read: () => Promise<Value | undefined>): Promise<Value> => {
    let found: Value | undefined
    let problem: unknown = new StageFailure('nothing came')
    const look = async () => {
      try {
        found = await read()
      } catch (error) {
        problem = error
      }
      return found !== undefined
    }
    await until(look).catch(() => undefined)
    if (found === undefined) throw problem
    return found
  }
  const balanceOf = (holder: Hex) =>
    chains.hub.chain.client.readContract({
      ...{ address: hub.hub, abi: hubAbi, functionName: 'balanceOf', args: [holder, token] },
    })

  return [
    {
      name: 'settled',
      async run() {
        const { order, orderId, orderSignature, deposit, fill } = filled()
        const deposited = await patiently(() =>
          ask('depository-deposits/v1', depositSchema, { chainId: 'base', transactionId: deposit }),
        )
        await submitExecution(network, deposited.execution)
        const own = deposited.messages.find(({ result }) => result.depositId === orderId)
        if (own === undefined) throw new StageFailure('the deposit names another order')
        amount = BigInt(own.result.amount)
        const { onchainId } = own.result
        const before = await balanceOf(alias)
        const settled = await patiently(() =>
          ask('solver-fills/v1', executedSchema, {
            ...{ order, orderSignature, fill: { transactionId: fill } },
            inputs: [{ transactionId: deposit, onchainId, inputIndex: 0 }],
          }),
        )
        await submitExecution(network, settled.execution)
        const earned = (await balanceOf(alias)) - before
        if (earned !== amount) throw new StageFailure(`the hub gave the solver ${earned} of ${amount}`)
        return `the hub moved the deposit of ${amount} micro-USDC to the solver`
      },
    },
    {
      name: 'withdrawal requested',
      async run() {
        const request = {
          ...{ chainId: 'base', currency: origin.tokens.USDC, amount: amount.toString() },
          ...{ ownerChainId: 'base', owner: keys.orderSigner.address },
          ...{ recipient: keys.fillWallet.address, nonce: BigInt(filled().orderId).toString() },
        }
        const ownerSignature = await owner.sign({ hash: toHex(ownerRequestDigest(request)) })
        flow = { ...request, ownerSignature }
        const { execution } = await patiently(() => ask('withdrawal-initiation/v2', executedSchema, flow))
        await submitExecution(network, execution)
        return `its owner signed, and the amount left ${alias}`
      },
    },
    {
      name: 'withdrawal issued',
      async run() {
        const { payloadParams } = await patiently(() => ask('withdrawal-initiated/v2', initiatedSchema, flow))
        const { signatures, chainId, amount: asked, ...rest } = payloadParams
        const request = { ...rest, chainId: BigInt(chainId), amount: BigInt(asked) }
        const { recipient, ...plain } = request
        const signature = concatHex(signatures.map((entry) => entry.signature))
        const args = [{ ...plain, receiver: recipient }, signature] as const
        const data = encodeFunctionData({ abi: allocatorAbi, functionName: 'submitWithdrawRequest', args })
        await chains.hub.chain.send(keys.fillWallet, [{ what: 'withdraw request', to: hub.allocator, data }])
        issued = { request, payloadId: withdrawRequestPayloadId(request) }
        return `payload ${issued.payloadId}`
      },
    },
    {
      name: 'withdrawal executed',
      async run() {
        const { request, payloadId } = issuedRequest()
        const allocator = { address: hub.allocator, abi: allocatorAbi }
        const { client } = chains.hub.chain
        const payload = await client.readContract({
          ...{ ...allocator, functionName: 'payloads', args: [payloadId] },
        })
        const place = { hubChainId: request.chainId, depository: request.depository }
        const [hash = '0x'] = payloadHashes('ethereum-vm', payload, place)
        let signature: Hex = '0x'
        await until(async () => {
          signature = await client.readContract({
            ...{ ...allocator, functionName: 'signedPayloads', args: [payloadId, hash] },
          })
          return signature !== '0x'
        })
        // Anybody may; the solver alone counts the nonces of the fill wallet here.
        const clients = chains.base.chain.as(submitter)
        payout = await clients.walletClient.sendTransaction({
          ...{ to: origin.depository, data: payloadCallData(payload, signature) },
        })
        await until(async () => {
          const { status } = await clients.publicClient
            .getTransactionReceipt({ hash: payout })
            .catch(() => ({ status: 'waiting' }))
          if (status === 'reverted') throw new StageFailure(`${payout} reverted`)
          return status === 'success'
        })
        return `the depository paid the fill wallet in ${payout}`
      },
    },
    {
      name: 'withdrawal burned',
      async run() {
        const execution = await patiently(async () => {
          const answer = await ask('depository-withdrawals/v2', withdrawalSchema, {
            ...{ ...flow, transactionId: payout },
          })
          return answer.status === 1 ? answer.execution : undefined
        })
        await submitExecution(network, execution)
        return `the hub burned ${amount} micro-USDC: it owes nothing for what was paid`
      },
    },
  ]
}
