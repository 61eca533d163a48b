// All of the plug-in for Bullet: docs/bullet.md.
#pragma once

#include "isotact/adapters/bullet/batch.h"
#include "isotact/adapters/bullet/body.h"
#include "isotact/adapters/bullet/budget.h"
#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/given_contacts.h"
#include "isotact/adapters/bullet/guarded_world.h"
#include "isotact/adapters/bullet/install.h"
#include "isotact/adapters/bullet/report.h"
#include "isotact/adapters/bullet/serialize.h"
#include "isotact/adapters/bullet/shape.h"
#include "isotact/adapters/bullet/swept_broadphase.h"
