import { readFileSync } from 'node:fs'
import { createConfiguredSigner } from '@causeway/signer'
import { recordAction } from '../../access/adminAction.ts'
import { signOpenOrders } from '../../requests/orders/orderSignatures.ts'
import type { Command } from './command.ts'
import { readReason, reasonFlag } from './readValue.ts'

export const orderCommands: readonly Command[] = [
  {
    words: 'orders sign',
    changes: true,
    about:
      'Sign every order of the configured key that is open and not signed: before another key takes its place, or after',
    flags: { reason: reasonFlag },
    async run({ database, variables, actor, print }, args) {
      const reason = readReason(args)
      const key = await createConfiguredSigner({
        environment: variables,
        readFile: (path) => readFileSync(path, 'utf8'),
        warn: (message) => void print(message),
        // A thread signs, as in the service, so that many orders do not block this process.
        isThreaded: true,
      })
      try {
        const signed = await signOpenOrders({ database, key })
        await database.transaction((tx) =>
          recordAction(tx, {
            actor,
            action: 'orders.sign',
            subject: key.address,
            details: { reason, signed },
          }),
        )
        const line = signed === 0 ? 'Nothing is left to sign' : `Signed: ${signed} orders`
        return { data: { signer: key.address, signed }, lines: [`${line} of ${key.address}.`] }
      } finally {
        await key.close()
      }
    },
  },
]
