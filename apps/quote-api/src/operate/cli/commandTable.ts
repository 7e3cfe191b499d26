import { balanceCommands } from './balance.ts'
import { claimCommands } from './claims.ts'
import type { Command } from './command.ts'
import { keyCommands } from './keys.ts'
import { ledgerCommands } from './ledger.ts'
import { policyCommands } from './policies.ts'
import { requestCommands } from './requests.ts'
import { topUpCommands } from './topUps.ts'
import { walletCommands } from './wallets.ts'
import { webhookCommands } from './webhooks.ts'

/** Every command, in the order in which the usage lists them. */
export const commandTable: readonly Command[] = [
  ...keyCommands,
  ...walletCommands,
  ...policyCommands,
  ...webhookCommands,
  ...balanceCommands,
  ...topUpCommands,
  ...ledgerCommands,
  ...requestCommands,
  ...claimCommands,
]
