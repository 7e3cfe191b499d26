import { ConfigurationError } from '@causeway/core'
import { formatUnits } from 'viem'
import type { z } from 'zod'
import { type FamilyKey, familyKeys, familyPlans } from '../../families/familyPlans.ts'
import {
  depositSchema,
  namedFamilySchema,
  openFamiliesSchema,
  placedWalletSchema,
} from '../../families/familySettings.ts'
import type { OperatedNetwork } from './operatedNetwork.ts'

type Controlled = Pick<OperatedNetwork, 'familyControlUrl'>

/** Has a stand-in make a deposit. @param amount in smallest units of the native currency. @throws ConfigurationError */
export async function depositOnFamily(
  network: Controlled,
  family: FamilyKey,
  amount: bigint,
): Promise<string> {
  const body = { family, amount: amount.toString() }
  const { transactionId } = await ask(network, depositSchema, { path: '/deposit', body })
  return `${transactionId} deposits ${amountOf(family, amount)} on ${family}.`
}

/** Has a stand-in close its port. @throws ConfigurationError */
export async function silenceFamily(network: Controlled, family: FamilyKey): Promise<string> {
  await ask(network, namedFamilySchema, { path: '/silence', body: { family } })
  return `The stand-in of ${family} answers nobody until the next start.`
}

/** Has a stand-in make an account of a kind. @throws ConfigurationError, also for a family without kinds of accounts */
export async function placeFamilyWallet(
  network: Controlled,
  family: FamilyKey,
  wallet: string,
): Promise<string> {
  const { account } = await ask(network, placedWalletSchema, { path: '/wallet', body: { family, wallet } })
  return `${account} on ${family} is ${wallet}.`
}

/** Asks which stand-ins are open. @returns a paragraph per family. @throws ConfigurationError */
export async function describeFamilies(network: Controlled): Promise<string> {
  const facts = await ask(network, openFamiliesSchema, { path: '/families' })
  return familyKeys
    .map((key) => {
      const { name, real, standIn } = familyPlans[key]
      const familyFacts = facts[key]
      if (familyFacts === undefined) return `${name} is not open yet.`
      const { url, depository, firstDeposit } = familyFacts
      return [
        `${name}  ${url}`,
        `  stand-in: ${standIn}; real: ${real}`,
        `  depository ${depository}`,
        `  ${firstDeposit.transactionId} deposits ${amountOf(key, BigInt(firstDeposit.amount))}`,
      ].join('\n')
    })
    .join('\n')
}

function amountOf(family: FamilyKey, amount: bigint): string {
  const { decimals, symbol } = familyPlans[family]
  return `${formatUnits(amount, decimals)} ${symbol}`
}

/** One request to the control server of the stand-ins. */
async function ask<Value>(
  { familyControlUrl }: Controlled,
  schema: z.ZodType<Value>,
  { path, body }: { readonly path: string; readonly body?: object },
): Promise<Value> {
  if (familyControlUrl === undefined) throw new ConfigurationError('no chain of another family runs here')
  const response = await fetch(`${familyControlUrl}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new ConfigurationError(`the stand-ins refuse: ${text}`)
  return schema.parse(JSON.parse(text))
}
