import { ConfigurationError } from '@causeway/core'
import { expect, test } from 'vitest'
import { commandEnvironment } from './commandEnvironment.ts'

const serviceFile = JSON.stringify({
  ENVIRONMENT: 'local',
  BASE_RPC_URL: 'http://127.0.0.1:1',
  DATABASE_URL: '',
})
const missing = async () => {
  throw Object.assign(new Error('none'), { code: 'ENOENT' })
}

test('nothing set means the network of npm start, with the settings of its service', async () => {
  const folders: string[] = []
  const variables = await commandEnvironment({ PATH: '/bin', BASE_RPC_URL: '' }, async (folder) => {
    folders.push(folder)
    return serviceFile
  })
  expect(folders).toEqual(['.local'])
  expect(variables).toEqual({ ...JSON.parse(serviceFile), PATH: '/bin' })
})

test('what is set wins over the settings of the service', async () => {
  const set = { ENVIRONMENT: 'local', BASE_RPC_URL: 'http://127.0.0.1:2', CAUSEWAY_LOCAL_DIR: '/elsewhere' }
  expect(await commandEnvironment(set, async () => serviceFile)).toMatchObject(set)
})

test('a network that never started has no settings', async () => {
  expect(await commandEnvironment({}, missing)).toEqual({ ENVIRONMENT: 'local' })
})

test('another environment is taken as it is, and a database needs its environment named', async () => {
  const production = { ENVIRONMENT: 'mainnets.prod', DATABASE_URL: 'postgres://host/db' }
  expect(await commandEnvironment(production, missing)).toBe(production)
  await expect(commandEnvironment({ DATABASE_URL: 'postgres://host/db' }, missing)).rejects.toThrow(
    ConfigurationError,
  )
})
