import { hubAbi, hubOracleAbi } from '@causeway/contracts'
import { ConfigurationError, type Hex } from '@causeway/core'
import { BaseError, ContractFunctionRevertedError, concatHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { readJsonFile } from '../../files/jsonFile.ts'
import { waitUntilMined } from '../../nodes/clients.ts'
import type { OperatedNetwork } from './operatedNetwork.ts'

const hex = z
  .string()
  .regex(/^0x([0-9a-f]{2})*$/)
  .transform((text): Hex => `0x${text.slice(2)}`)

/** The execution in an oracle's answer, in the fields that the hub takes. */
export const attestedExecutionSchema = z.object({
  idempotencyKey: hex,
  actions: z.array(hex).min(1),
  signatures: z.array(z.object({ signature: hex })).min(1),
})

export type AttestedExecution = z.infer<typeof attestedExecutionSchema>

/** The part of an oracle's answer that is read here. */
const attestationSchema = z.object({ execution: attestedExecutionSchema })

/**
 * Sends an oracle's answer, unchanged, to the hub's oracle contract, which checks the signatures by its multisig. Anybody
 * may do so.
 * @param file the answer's JSON
 * @returns the transaction. @throws ConfigurationError when the file holds no execution or the hub refuses
 */
export async function submitAttestation(
  { keys, deployment, chains }: OperatedNetwork,
  file: string,
): Promise<Hex> {
  const read = await readJsonFile(file)
  const parsed = attestationSchema.safeParse(read.kind === 'found' ? read.json : undefined)
  if (!parsed.success) throw new ConfigurationError(`${file} holds no attestation with an execution.`)
  return submitExecution({ keys, deployment, chains }, parsed.data.execution)
}

/** Submits an execution that was parsed already. @throws ConfigurationError when the hub refuses */
export async function submitExecution(
  { keys, deployment, chains }: Pick<OperatedNetwork, 'keys' | 'deployment' | 'chains'>,
  { idempotencyKey, actions, signatures }: AttestedExecution,
): Promise<Hex> {
  const { oracle, oracleMultisig } = deployment.hub
  const clients = chains.hub.chain.as(keys.fillWallet)
  const signature = concatHex(signatures.map((entry) => entry.signature))
  try {
    const { request } = await clients.publicClient.simulateContract({
      account: privateKeyToAccount(keys.fillWallet.privateKey),
      address: oracle,
      // The hub's ABI is here for its errors, which the oracle contract passes on.
      abi: [...hubOracleAbi, ...hubAbi],
      functionName: 'execute',
      args: [{ idempotencyKey, actions }, oracleMultisig, signature],
    })
    const hash = await clients.walletClient.writeContract(request)
    await waitUntilMined(clients, hash, 'the execution')
    return hash
  } catch (error) {
    const cause =
      error instanceof BaseError ? error.walk((one) => one instanceof ContractFunctionRevertedError) : null
    if (!(cause instanceof ContractFunctionRevertedError)) throw error
    throw new ConfigurationError(`The hub refuses the execution: ${cause.data?.errorName ?? cause.reason}.`)
  }
}
