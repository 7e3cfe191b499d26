// Brings what a fill earned home: the oracles attest deposit and fill, the hub moves the deposit to whom the order
// names as solver, and its key (ORDER_SIGNER_KEY_FILE) takes it out to RECIPIENT. The allocator signs, the depository
// pays, and the hub burns what was paid. The command line names the file of the order; or, to take out what the hub
// owes already, `chain currency amount owner-chain nonce`, as `npm run causeway -- solver inventory` prints it. GAS_KEY_FILE pays
// the gas. Whoever starts it again goes on where it ended, and is paid once.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allocatorAbi, depositoryAbi, hubAbi, hubOracleAbi } from '@causeway/contracts'
import {
  type Hex,
  hubAlias,
  hubTokenId,
  ownerRequestDigest,
  withdrawalAddress,
  withdrawalInitiationKey,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { decodeEvmWithdrawal, evmWithdrawalId, payloadHashes } from '@causeway/families/rules'
import { concatHex, createPublicClient, createWalletClient, encodeFunctionData, http, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const { ENVIRONMENT, CONFIG_DIR = 'configs', ORACLE_URL, ORACLE_API_KEY = '', RECIPIENT = '' } = process.env
const { RELAY_RPC_URL = '', USDC_BASE = '', ORDER_SIGNER_KEY_FILE, GAS_KEY_FILE } = process.env
const { PATIENCE_MS = '120000' } = process.env
const readConfig = (name: string) =>
  JSON.parse(readFileSync(join(CONFIG_DIR, `${name}.${ENVIRONMENT}.json`), 'utf8'))
const keyIn = (path = '') => privateKeyToAccount(`0x${readFileSync(path, 'utf8').trim().slice(2)}`)
const [solver, payer] = [keyIn(ORDER_SIGNER_KEY_FILE), keyIn(GAS_KEY_FILE)]
const [named = '', ...plain] = process.argv.slice(2)
const [currency = USDC_BASE, , ownerChainId = 'base'] = plain
const chainId = plain.length > 0 ? named : 'base'
const hub = readConfig('chains.hub')
const family = mainNetwork('ethereum-vm')
const { depository } = readConfig('chains').chains.find(({ id }: { id: string }) => id === chainId)
const endpoint = process.env[`${chainId.toUpperCase().replaceAll('-', '_')}_RPC_URL`] ?? ''

const connect = (endpoints: string) => {
  const transport = http(endpoints.split(',')[0])
  return {
    client: createPublicClient({ transport, pollingInterval: 500 }),
    wallet: createWalletClient({ account: payer, transport }),
  }
}
const [onChain, onHub] = [connect(endpoint), connect(RELAY_RPC_URL)]

async function send({ client, wallet }: ReturnType<typeof connect>, to: Hex, data: Hex): Promise<Hex> {
  const hash = await wallet.sendTransaction({ to, data, chain: null })
  const { status } = await client.waitForTransactionReceipt({ hash })
  if (status !== 'success') throw new Error(`${hash} reverted`)
  return hash
}

/** Blocks must become final, and oracles read them one after the other. */
async function patiently<T>(what: string, read: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + Number(PATIENCE_MS)
  let last: unknown
  while (Date.now() < deadline) {
    try {
      const found = await read()
      if (found !== undefined) return found
    } catch (error) {
      last = error
    }
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error(`${what} did not come`, { cause: last })
}

const attest = (path: string, body: object) =>
  patiently(path, async () => {
    const response = await fetch(`${ORACLE_URL}/attestations/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': ORACLE_API_KEY },
      body: JSON.stringify({ ...body, requestPeerSignatures: true }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    const answer = JSON.parse(text)
    const { signatures } = answer.execution ?? answer.payloadParams ?? {}
    // Fewer while a peer has not read the same block yet.
    return signatures?.length >= 2 ? answer : undefined
  })

type Execution = { idempotencyKey: Hex; actions: readonly Hex[]; signatures: readonly { signature: Hex }[] }

const isExecuted = (idempotencyKey: Hex) =>
  onHub.client.readContract({
    address: hub.oracleAddress,
    abi: hubOracleAbi,
    functionName: 'isExecuted',
    args: [idempotencyKey],
  })

/** Once. */
const execute = async ({ idempotencyKey, actions, signatures }: Execution) => {
  if (await isExecuted(idempotencyKey)) return
  const signature = concatHex(signatures.map((one) => one.signature))
  const args = [{ idempotencyKey, actions }, hub.oracleMultisigAddress, signature] as const
  const data = encodeFunctionData({ abi: hubOracleAbi, functionName: 'execute', args })
  await send(onHub, hub.oracleAddress, data)
}

const owner = solver.address.toLowerCase()
const ownerAlias = hubAlias({ chainId: ownerChainId, ...family }, owner)
const tokenId = hubTokenId({ chainId, ...family }, currency)
/** Balance of it that the hub keeps for an account. */
const held = (holder: Hex) =>
  onHub.client.readContract({
    address: hub.hubAddress,
    abi: hubAbi,
    functionName: 'balanceOf',
    args: [holder, tokenId],
  })

// 1. What was deposited is on the hub, and belongs to the solver.
async function settle(path: string) {
  const { order, orderId, orderSignature, deposit, fill } = JSON.parse(readFileSync(path, 'utf8'))
  const deposited = await attest('depository-deposits/v1', { chainId, transactionId: deposit })
  await execute(deposited.execution)
  const { onchainId, amount } = deposited.messages.find(
    ({ result }: { result: { depositId: string } }) => result.depositId === orderId,
  ).result
  const inputs = [{ transactionId: deposit, onchainId, inputIndex: 0 }]
  const filled = await attest('solver-fills/v1', {
    order,
    orderSignature,
    inputs,
    fill: { transactionId: fill },
  })
  await execute(filled.execution)
  console.log(`settled: the hub keeps ${await held(ownerAlias)} smallest units for the solver`)
  return { amount, nonce: BigInt(orderId).toString() }
}
const [, amountText = '', , nonceText = ''] = plain
const { amount, nonce } = plain.length > 0 ? { amount: amountText, nonce: nonceText } : await settle(named)

// 2. Its owner signs for it, and the allocator's contract issues the payload.
const request = {
  chainId,
  currency,
  amount,
  ownerChainId,
  owner,
  recipient: RECIPIENT.toLowerCase(),
  nonce,
}
const flow = { ...request, ownerSignature: await solver.sign({ hash: toHex(ownerRequestDigest(request)) }) }
const place = withdrawalAddress(
  { chainId, ...family },
  { depository, currency, recipient: request.recipient, ownerAlias, nonce: BigInt(nonce) },
)
const started = { hubId: hub.id, hubTokenId: tokenId, withdrawalAddress: place }
if (!(await isExecuted(withdrawalInitiationKey(started))))
  await execute((await attest('withdrawal-initiation/v2', flow)).execution)
else if ((await held(place)) === 0n) {
  console.log('burned before: the hub owes nothing for it')
  process.exit(0)
}
const { payloadParams } = await attest('withdrawal-initiated/v2', flow)
const { signatures, chainId: number, amount: asked, ...rest } = payloadParams
const issued = { ...rest, chainId: BigInt(number), amount: BigInt(asked) }
const { recipient: receiver, ...parts } = issued
const signature = concatHex(signatures.map((one: { signature: Hex }) => one.signature))
const args = [{ ...parts, receiver }, signature] as const
const submit = encodeFunctionData({ abi: allocatorAbi, functionName: 'submitWithdrawRequest', args })
const payloadId = withdrawRequestPayloadId(issued)
const allocator = { address: hub.auroraAllocatorAddress, abi: allocatorAbi } as const
const readPayload = () =>
  onHub.client.readContract({ ...allocator, functionName: 'payloads', args: [payloadId] })
if ((await readPayload()) === '0x') await send(onHub, hub.auroraAllocatorAddress, submit)

// 3. The allocator signs, and anybody brings its signature to the depository.
const payload = await readPayload()
const target = { hubChainId: issued.chainId, depository: issued.depository }
const [hash = '0x'] = payloadHashes('ethereum-vm', payload, target)
const withdrawal = decodeEvmWithdrawal(payload)
const withdrawalId = evmWithdrawalId(withdrawal)
const paying = { address: depository, abi: depositoryAbi } as const

async function payOut(): Promise<Hex> {
  const signed = await patiently('the signature of the allocator', async () => {
    const found = await onHub.client.readContract({
      ...allocator,
      functionName: 'signedPayloads',
      args: [payloadId, hash],
    })
    return found === '0x' ? undefined : found
  })
  const args = [withdrawal, signed] as const
  return send(onChain, depository, encodeFunctionData({ ...paying, functionName: 'execute', args }))
}

/** Looked for from the newest block on, in ranges that nodes list. */
async function findPayment(): Promise<Hex> {
  for (let toBlock = await onChain.client.getBlockNumber(); ; toBlock -= 1_000n) {
    const fromBlock = toBlock > 999n ? toBlock - 999n : 0n
    const range = { fromBlock, toBlock }
    const calls = await onChain.client.getContractEvents({
      ...paying,
      eventName: 'RelayCallExecuted',
      ...range,
    })
    const found = calls.find(({ args }) => args.id === withdrawalId)
    if (found !== undefined) return found.transactionHash
    if (fromBlock === 0n) throw new Error(`no block has the payment of ${withdrawalId}`)
  }
}

const isPaid = await onChain.client.readContract({
  ...paying,
  functionName: 'callRequests',
  args: [withdrawalId],
})
const paid = isPaid ? await findPayment() : await payOut()
console.log(`withdrawn${isPaid ? ' before' : ''}: ${amount} smallest units to ${RECIPIENT} in ${paid}`)

// 4. The hub burns what was paid.
const burn = await attest('depository-withdrawals/v2', { ...flow, transactionId: paid })
await execute(burn.execution)
console.log('burned: the hub owes nothing for it')
