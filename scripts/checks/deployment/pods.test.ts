// Goal: no manifest or compose file is applied that a cluster refuses, or that grants more than it states.
// Attackers and accidents: a compromised container that looks for its neighbours, someone on the internet who looks for
// the operations port, and the hurried edit that drops a probe or mistypes a field.
import { describe, expect, test } from 'vitest'
import { deploymentCheck } from './deployment.ts'
import { files, kubernetes, problemsWith } from './planted.ts'

test('what this repository ships is right', () => {
  expect(deploymentCheck.find(files)).toEqual([])
})

describe('manifests', () => {
  test.each<[string, string, string | RegExp, string, string]>([
    [
      'a field that no schema has',
      'oracle',
      'readinessProbe:',
      'readinesProbe:',
      'readinesProbe is no field',
    ],
    ['a field at another place', 'quote-api', 'maxSurge: 1', 'surge: 1', 'rollingUpdate.surge is no field'],
    [
      'a word for a number',
      'oracle',
      'containerPort: 3000',
      'containerPort: "3000"',
      'containerPort must be integer',
    ],
    [
      'a value that is none',
      'solver',
      'RuntimeDefault',
      'RuntimeDefualt',
      'seccompProfile/type must be equal',
    ],
    [
      'a field that is missing',
      'quote-api',
      'whenUnsatisfiable: DoNotSchedule',
      '',
      'required property whenUnsatisfiable',
    ],
    ['a number for a text', 'oracle', 'value: 0.0.0.0', 'value: 1', 'value must be string'],
    ['a kind that nobody knows', 'oracle', 'kind: Service\n', 'kind: Servce\n', 'v1/Servce is no kind'],
    ['the same key twice', 'oracle', 'replicas: 1', 'replicas: 1\n  replicas: 2', 'keys must be unique'],
    [
      'a file that nobody applies',
      'kustomization',
      '  - solver.yaml\n',
      '',
      'no kustomization.yaml lists it',
    ],
    ['a file that is not there', 'kustomization', 'oracle.yaml', 'oracles.yaml', 'oracles.yaml is not there'],
    [
      'a secret literal of kustomize',
      'kustomization',
      'resources:',
      'secretGenerator: []\nresources:',
      'secretGenerator',
    ],
    [
      'a tag of another release',
      'kustomization',
      /newTag: [\d.]+/,
      'newTag: 0.0.9',
      'the tag 0.0.9, this release is',
    ],
    [
      'an image that is not built',
      'oracle',
      'image: causeway/oracle',
      'image: causeway/oracl',
      'is no target',
    ],
    [
      'a tag that kustomize would lose',
      'oracle',
      'image: causeway/oracle',
      'image: causeway/oracle:1',
      'is no target',
    ],
    ['a root user', 'solver', 'runAsUser: 10001', 'runAsUser: 0', 'runAsUser and runAsGroup of the images'],
    ['a user that may be root', 'solver', 'runAsNonRoot: true', 'runAsNonRoot: false', 'runAsNonRoot'],
    ['a root that is written', 'oracle', 'readOnlyRootFilesystem: true', '', 'readOnlyRootFilesystem'],
    [
      'a way to more rights',
      'oracle',
      'allowPrivilegeEscalation: false',
      '',
      'allowPrivilegeEscalation: false',
    ],
    ['capabilities', 'oracle', 'drop: [ALL]', 'drop: [NET_RAW]', 'capabilities drop ALL'],
    [
      'a capability more',
      'oracle',
      'drop: [ALL]',
      'drop: [ALL]\n              add: [NET_ADMIN]',
      'no capability is added',
    ],
    [
      'no seccomp profile',
      'oracle',
      'type: RuntimeDefault',
      'type: Unconfined',
      'seccompProfile RuntimeDefault',
    ],
    [
      'a token of the cluster',
      'oracle',
      'automountServiceAccountToken: false',
      '',
      'automountServiceAccountToken',
    ],
    ['variables of other services', 'quote-api', 'enableServiceLinks: false', '', 'enableServiceLinks'],
    [
      'the host’s network',
      'oracle',
      'enableServiceLinks: false',
      'enableServiceLinks: false\n      hostNetwork: true',
      'nothing of its host',
    ],
    [
      'the host’s files',
      'oracle',
      /emptyDir:\n\s+medium: Memory\n\s+sizeLimit: 16Mi/,
      'hostPath: { path: / }',
      'no hostPath',
    ],
    [
      'no liveness probe',
      'quote-api',
      /livenessProbe:\n.*\n.*path: \S+\n.*port: ops\n/,
      'livenessProbe:\n',
      'livenessProbe by HTTP',
    ],
    [
      'a kill for a silent endpoint',
      'solver',
      /(livenessProbe:\n.*\n.*path: )\S+/,
      '$1/ready',
      'livenessProbe asks /ready',
    ],
    [
      'a readiness that is none',
      'solver',
      'path: /ready',
      'path: /lives/v1',
      'readinessProbe asks /lives/v1',
    ],
    [
      'a probe of a port that is not open',
      'oracle',
      /(readinessProbe:\n.*\n.*\n.*port: )ops/,
      '$1operations',
      'asks port operations',
    ],
    ['no limit of memory', 'oracle', 'memory: 512Mi', '', 'request and limit of memory'],
    [
      'a stop that is cut off',
      'oracle',
      'GracePeriodSeconds: 40',
      'GracePeriodSeconds: 30',
      'a stop takes 35',
    ],
    [
      'a port that the image does not open',
      'oracle',
      'containerPort: 3000',
      'containerPort: 8080',
      'its image opens 3000,3001',
    ],
    [
      'a variable that nobody reads',
      'oracle',
      'name: STATE_DIR',
      'name: STATE_DIRECTORY',
      'oracle reads no STATE_DIRECTORY',
    ],
    [
      'another service’s variable',
      'quote-api',
      'name: OPS_HOST',
      'name: STATE_DIR',
      'quote-api reads no STATE_DIR',
    ],
    [
      'a key in a manifest',
      'oracle',
      'name: OPS_HOST\n              value: 0.0.0.0',
      `name: ECDSA_PRIVATE_KEY\n              value: "0x${'1'.repeat(64)}"`,
      'ECDSA_PRIVATE_KEY is a secret',
    ],
    [
      'a password in a URL',
      'solver',
      'value: http://quote-api:3000',
      'value: http://a:b@quote-api:3000',
      'QUOTE_API_URL is a secret',
    ],
    [
      'secrets as variables',
      'oracle',
      '- configMapRef:',
      '- secretRef: { name: oracle }\n            - configMapRef:',
      'secrets are files',
    ],
  ])('O-191: refuses %s', (_what, name, from, to, problem) => {
    expect(problemsWith(kubernetes(name), from, to)).toContain(problem)
  })
})
