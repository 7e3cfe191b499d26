import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Hex } from '@causeway/core'
import { permit2Address } from '@causeway/families/rules'
import { getContractAddress, keccak256, toHex } from 'viem'
import { z } from 'zod'
import { create2Proxy } from '../uniswap/create2.ts'
import type { PlannedContract } from './contractPlan.ts'

/** ERC-4337, version 0.7. @source github.com/eth-infinitism/account-abstraction */
export const entryPointAddress: Hex = '0x0000000071727de22e5e9d8baf0edac6f37da032'

/** A contract of others, from a package of the registry, at the address that it has on every public chain. */
type PublicContract = {
  readonly what: string
  readonly address: Hex
  /** Salt of its deployment through the CREATE2 proxy. */
  readonly salt: Hex
  readonly creationCode: () => Hex
}

export const publicContracts: readonly PublicContract[] = [
  {
    what: 'Permit2',
    address: permit2Address,
    salt: '0x0000000000000000000000000000000000000000d3af2663da51c10215000000',
    creationCode: () =>
      toHex(
        packageFile('hardhat-predeploy', join('bin', '0x000000000022D473030F116dDEE9F6B43aC78BA3.bytecode')),
      ),
  },
  {
    what: 'EntryPoint 0.7',
    address: entryPointAddress,
    salt: '0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3',
    creationCode: () => accountAbstractionCode('EntryPoint'),
  },
]

/**
 * Deployments through the CREATE2 proxy, as on public chains. The address is a hash of the code, so the right address
 * proves that the package holds the public code. @throws Error when a package holds other code
 */
export function plannedPublicContracts(): readonly PlannedContract[] {
  return publicContracts.map(({ what, address, salt, creationCode }) => {
    const initCode = creationCode()
    const derived = getContractAddress({ opcode: 'CREATE2', from: create2Proxy, salt, bytecode: initCode })
    if (derived.toLowerCase() !== address) throw new Error(`${what} is not the code of ${address}`)
    return { what, initCode, salt, address }
  })
}

/** Creation code of a contract of ERC-4337's own repository, before its arguments. */
export function accountAbstractionCode(name: 'EntryPoint' | 'SimpleAccountFactory'): Hex {
  const artifact = packageFile('@account-abstraction/contracts', join('artifacts', `${name}.json`))
  return artifactSchema.parse(JSON.parse(artifact.toString('utf8'))).bytecode
}

/**
 * Runtime code of Calibur at its public address. No package holds it, so it was built from its repository, with the
 * immutables that its constructor sets. @throws Error where the file holds other code
 */
export function caliburRuntimeCode(): Hex {
  const file = new URL('../../contracts/public/calibur.json', import.meta.url)
  const { runtimeCode } = runtimeSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  if (keccak256(runtimeCode) !== caliburCodeHash) throw new Error('calibur.json is not the code of Calibur')
  return runtimeCode
}

const caliburCodeHash = '0x7fa1bd2edb51499cb83a324acd9d0f35b31774cf8894e26fc13ac0474f4f57a4'

const hexCode = z
  .string()
  .regex(/^0x([0-9a-f]{2})+$/)
  // CAST: the pattern above is what Hex says.
  .transform((code) => code as Hex)

const runtimeSchema = z.object({ runtimeCode: hexCode })

const artifactSchema = z.object({ bytecode: hexCode })

/** Reads a file of a package from disk: the packages are data here, and none of their code is run. */
function packageFile(name: string, path: string): Buffer {
  const manifest = createRequire(import.meta.url).resolve(join(name, 'package.json'))
  return readFileSync(join(dirname(manifest), path))
}
