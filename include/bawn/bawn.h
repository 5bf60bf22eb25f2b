/* SPDX-License-Identifier: Apache-2.0 */
/* All of libbawn. */
#ifndef BAWN_BAWN_H
#define BAWN_BAWN_H

#include <bawn/approve.h>
#include <bawn/audit.h>
#include <bawn/error.h>
#include <bawn/firewall.h>
#include <bawn/learn.h>
#include <bawn/plan.h>
#include <bawn/policy.h>
#include <bawn/query.h>
#include <bawn/report.h>
#include <bawn/run.h>
#include <bawn/save.h>
#include <bawn/session.h>

#endif
