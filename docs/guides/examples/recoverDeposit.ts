// Gets a deposit on an EVM chain back that an operator resolved as `recover`: waits out the protocol's day, has the
// oracles release the deposit to its depositor's balance on the hub, and takes it out to RECIPIENT with the depositor's
// key (OWNER_KEY_FILE). GAS_KEY_FILE pays the gas on both chains. The command line names the request.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allocatorAbi, depositoryAbi, hubOracleAbi } from '@causeway/contracts'
import { type Hex, ownerRequestDigest, withdrawRequestPayloadId } from '@causeway/core'
import { decodeEvmWithdrawal, payloadHashes } from '@causeway/families/rules'
import { concatHex, createPublicClient, createWalletClient, encodeFunctionData, http, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const { ENVIRONMENT, CONFIG_DIR = 'configs', QUOTE_API, ORACLE_URL, ORACLE_API_KEY = '' } = process.env
const { BASE_RPC_URL = '', RELAY_RPC_URL = '', RECIPIENT = '', OWNER_KEY_FILE, GAS_KEY_FILE } = process.env
const keyIn = (path = '') => privateKeyToAccount(`0x${readFileSync(path, 'utf8').trim().slice(2)}`)
const [owner, payer] = [keyIn(OWNER_KEY_FILE), keyIn(GAS_KEY_FILE)]
const hub = JSON.parse(readFileSync(join(CONFIG_DIR, `chains.hub.${ENVIRONMENT}.json`), 'utf8'))
const requestId = process.argv[2] ?? ''
/** Longest wait: `recoveryDelaySeconds` of the hub, and a while for blocks to become final. */
const patienceMs = Number(process.env['PATIENCE_MS'] ?? 2 * 86_400_000)

const connect = (endpoints: string) => {
  const transport = http(endpoints.split(',')[0])
  return {
    client: createPublicClient({ transport, pollingInterval: 500 }),
    wallet: createWalletClient({ account: payer, transport }),
  }
}
const [onBase, onHub] = [connect(BASE_RPC_URL), connect(RELAY_RPC_URL)]

async function send({ client, wallet }: ReturnType<typeof connect>, to: Hex, data: Hex): Promise<Hex> {
  const hash = await wallet.sendTransaction({ to, data, chain: null })
  const { status } = await client.waitForTransactionReceipt({ hash })
  if (status !== 'success') throw new Error(`${hash} reverted`)
  return hash
}

type Refusal = { readonly message: string; readonly errorCode?: string; readonly retryable?: boolean }

/** Asks again while the oracles say that time alone is missing. @throws Error of what they refuse for good */
async function attest(path: string, body: object) {
  const endMs = Date.now() + patienceMs
  for (;;) {
    const response = await fetch(`${ORACLE_URL}/attestations/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': ORACLE_API_KEY },
      body: JSON.stringify({ ...body, requestPeerSignatures: true }),
    })
    const answer = JSON.parse(await response.text())
    const { signatures } = answer.execution ?? answer.payloadParams ?? {}
    // Fewer while a peer has not read the same block yet.
    if (response.ok && signatures?.length >= 2) return answer
    const refusal: Refusal = answer
    if ((!response.ok && refusal.retryable !== true) || Date.now() > endMs)
      throw new Error(`${path}: ${refusal.errorCode}: ${refusal.message}`)
    const waitSeconds = Math.min(Number(response.headers.get('retry-after') ?? 1), 30)
    if (waitSeconds > 5) console.log(`${path}: ${refusal.message} Asked again in ${waitSeconds} s.`)
    await new Promise((resolve) => setTimeout(resolve, Math.max(waitSeconds, 1) * 1_000))
  }
}

type Execution = { idempotencyKey: Hex; actions: readonly Hex[]; signatures: readonly { signature: Hex }[] }

/** Executes once: the script, started again, goes on where it ended. */
async function execute({ idempotencyKey, actions, signatures }: Execution): Promise<void> {
  const known = { address: hub.oracleAddress, abi: hubOracleAbi, functionName: 'isExecuted' } as const
  if (await onHub.client.readContract({ ...known, args: [idempotencyKey] })) return
  const signature = concatHex(signatures.map((one) => one.signature))
  const args = [{ idempotencyKey, actions }, hub.oracleMultisigAddress, signature] as const
  await send(
    onHub,
    hub.oracleAddress,
    encodeFunctionData({ abi: hubOracleAbi, functionName: 'execute', args }),
  )
}

// 1. The service tells the request's order, and where its deposit is.
const found = await fetch(`${QUOTE_API}/requests/v3?id=${requestId}&includeOrderData=true`)
const [request] = JSON.parse(await found.text()).requests
const { orderData: order, orderSignature, orderId } = request.protocol.v2
const [{ txHash: transactionId }] = request.data.inTxs
const chainId: string = order.inputs[0].payment.chainId

// 2. The oracles release it a day after the solver's promise.
const deposited = await attest('depository-deposits/v1', { chainId, transactionId })
const { onchainId, amount, currency, depositor } = deposited.messages.find(
  ({ result }: { result: { depositId: string } }) => result.depositId === orderId,
).result
const deposit = { chainId, transactionId, onchainId, order, orderSignature }
const recovery = await attest('recover/v1', deposit).catch((error: unknown) => {
  // Recovered before: the balance on the hub is what is taken out.
  if (error instanceof Error && error.message.includes('DEPOSIT_NOT_HELD')) return undefined
  throw error
})
if (recovery !== undefined) await execute(recovery.execution)
console.log(`recovered: ${amount} of ${currency} are the balance of ${depositor} on the hub`)

// 3. The depositor signs, and the allocator's contract issues the payload.
const withdrawal = {
  chainId,
  currency,
  amount,
  ownerChainId: chainId,
  owner: depositor,
  recipient: RECIPIENT.toLowerCase(),
  nonce: BigInt(onchainId).toString(),
}
const ownerSignature = await owner.sign({ hash: toHex(ownerRequestDigest(withdrawal)) })
const flow = { ...withdrawal, ownerSignature }
await execute((await attest('withdrawal-initiation/v2', flow)).execution)
const { payloadParams } = await attest('withdrawal-initiated/v2', flow)
const { signatures, chainId: paidOn, amount: issuedAmount, ...rest } = payloadParams
const issued = { ...rest, chainId: BigInt(paidOn), amount: BigInt(issuedAmount) }
const { recipient: receiver, ...plain } = issued
const signature = concatHex(signatures.map((one: { signature: Hex }) => one.signature))
const allocator = { address: hub.auroraAllocatorAddress, abi: allocatorAbi } as const
const payloadId = withdrawRequestPayloadId(issued)
const readPayload = () =>
  onHub.client.readContract({ ...allocator, functionName: 'payloads', args: [payloadId] })
if ((await readPayload()) === '0x') {
  const args = [{ ...plain, receiver }, signature] as const
  const data = encodeFunctionData({ abi: allocatorAbi, functionName: 'submitWithdrawRequest', args })
  await send(onHub, hub.auroraAllocatorAddress, data)
}

// 4. The allocator signs, and anybody brings its signature to the depository, which pays.
const payload = await readPayload()
const place = { hubChainId: issued.chainId, depository: issued.depository }
const [hash = '0x'] = payloadHashes('ethereum-vm', payload, place)
let signed: Hex = '0x'
while (signed === '0x') {
  await new Promise((resolve) => setTimeout(resolve, 500))
  signed = await onHub.client.readContract({
    ...allocator,
    functionName: 'signedPayloads',
    args: [payloadId, hash],
  })
}
const args = [decodeEvmWithdrawal(payload), signed] as const
const paid = await send(
  onBase,
  issued.depository,
  encodeFunctionData({ abi: depositoryAbi, functionName: 'execute', args }),
)
console.log(`withdrawn: ${amount} of ${currency} to ${RECIPIENT} in ${paid}`)
